"""What the reference kernel compiles to for a GPU, seen without one: registers, spills, shared memory, tensor-core instructions, and how many
instructions the loop that pays for no mask spends per score.

    python -m benchmarks.compiled [--arch 90] [--only bfloat16:64,float32:128]     one line of JSON for each dtype, width and causal or not
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ.pop("TRITON_INTERPRET", None)  # read when Triton is imported

from .kernel import reference

ELEMENT = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32"}
LOOP = ("FMUL", "FFMA", "FADD", "FMNMX", "MUFU", "F2FP", "HGMMA", "LDL", "STL")


def built(module: ModuleType, dtype: str, width: int, causal: bool, arch: int) -> tuple[Any, int]:
    """The compiled kernel with the tile of its table, and the scores of a tile that each thread holds. Lengths and strides are multiples of 16."""
    import torch
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    m, n, warps, stages = module.TILES[getattr(torch, dtype)][width]
    kernel, fixed = module._flash_kernel, {"CAUSAL": causal, "D": width, "BLOCK_M": m, "BLOCK_N": n}
    kinds = {name: "constexpr" if name in fixed else kind_of(name, ELEMENT[dtype]) for name in kernel.arg_names}
    constants = {(place,): fixed[name] for place, name in enumerate(kernel.arg_names) if name in fixed}
    aligned = {(place,): [["tt.divisibility", 16]] for place, name in enumerate(kernel.arg_names) if kinds[name] not in ("constexpr", "fp32")}
    source = ASTSource(fn=kernel, signature=kinds, constexprs=constants, attrs=aligned)
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options={"num_warps": warps, "num_stages": stages}), m * n // (32 * warps)


def kind_of(name: str, element: str) -> str:
    """The type of a kernel's argument, by its name."""
    if name.endswith("_ptr"):
        return "*fp32" if name.startswith("lse") else f"*{element}"
    return "fp32" if name == "scale" else "i32"


def disassembled(cubin: bytes) -> tuple[str, str]:
    """What the resources are, and the machine code, by the tools that come with Triton."""
    import triton

    tools = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        asked = ([str(tools / "cuobjdump"), "--dump-resource-usage", file.name], [str(tools / "nvdisasm"), "-c", file.name])
        resources, code = (subprocess.run(command, capture_output=True, text=True, check=True).stdout for command in asked)
    return resources, code


def loops(code: str) -> list[Counter[str]]:
    """Instructions of each loop that has a matrix product in it, in order."""
    labels: dict[str, int] = {}
    listed: list[tuple[str, str]] = []
    for line in code.splitlines():
        if label := re.match(r"\s*(\.L_\S+):", line):
            labels[label.group(1)] = len(listed)
        elif instruction := re.search(r"/\*[0-9a-f]+\*/\s+(?:@!?U?P\d+ )?\s*([A-Z0-9_]+)\S*(.*);", line):
            listed.append((instruction.group(1), instruction.group(2)))
    found = []
    for place, (operation, rest) in enumerate(listed):
        goal = re.search(r"`\((\.L_\S+?)\)", rest) if operation == "BRA" else None
        start = labels.get(goal.group(1), len(listed)) if goal else len(listed)
        if start <= place and any(name in ("HGMMA", "HMMA", "FFMA") for name, _ in listed[start : place + 1]):
            found.append(Counter(name for name, _ in listed[start : place + 1]))
    return found


def row(dtype: str, width: int, causal: bool, arch: int) -> dict[str, Any]:
    """One kernel in numbers."""
    module, _ = reference()
    started = time.process_time()
    kernel, scores = built(module, dtype, width, causal, arch)
    seconds = time.process_time() - started
    resources, code = disassembled(kernel.asm["cubin"])
    registers, stack = (int(number) for number in re.search(r"REG:(\d+) STACK:(\d+)", resources).groups())  # type: ignore[union-attr]
    found = loops(code)
    free = found[0] if found else Counter()
    return {"dtype": dtype, "width": width, "causal": causal, "arch": arch, "compile_s": round(seconds, 2), "registers": registers, "stack_bytes": stack,
            "shared_bytes": kernel.metadata.shared, "wgmma": kernel.asm["ptx"].count("wgmma.mma_async"), "tf32": ".tf32" in kernel.asm["ptx"],
            "per_score": round(sum(free.values()) / scores, 1), "loop": {name: free[name] for name in LOOP if free[name]}}


def main() -> None:
    """Print a line for each kernel asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", type=int, default=90)
    parser.add_argument("--only", default=",".join(f"{dtype}:{width}" for dtype in ("bfloat16", "float32") for width in (16, 32, 64, 128)))
    asked = parser.parse_args()
    for dtype, width in (part.split(":") for part in asked.only.split(",")):
        for causal in (False, True):
            print(json.dumps(row(dtype, int(width), causal, asked.arch)), flush=True)


if __name__ == "__main__":
    main()
