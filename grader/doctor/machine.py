"""The GPU as the driver tells it, and the C compiler that Triton's launcher needs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from .findings import Finding, State

QUERY = ["--query-gpu=name,compute_cap,driver_version,memory.total", "--format=csv,noheader"]
ELSEWHERE = "To pass the exercise that needs one: check it on a machine with an NVIDIA GPU, or in Colab (`%load_ext attngrade`)."


def gpu() -> Finding:
    """The first CUDA device: name, compute capability, driver, memory. ``facts`` is empty where there is none."""
    rows = _asked()
    if not rows:
        return _unseen()
    name, capability, driver, memory = rows[0]
    facts = {"name": name, "capability": capability, "driver": driver, "cuda": _driver_cuda()}
    told = f"{name}, compute capability {capability}, driver {driver}, {memory}" + (f" and {len(rows) - 1} more" if len(rows) > 1 else "")
    if not os.path.exists("/dev/nvidiactl") and sys.platform == "linux":
        return Finding("GPU", State.LESS, f"{told}; but /dev/nvidiactl is missing, so checks take the CPU", "Run `nvidia-modprobe` once as root.", facts)
    if not _at_least(capability, 8):
        return Finding("GPU", State.LESS, f"{told}; Triton supports capability 8.0 and newer, and bfloat16 has no hardware here",
                       "Kernels may work all the same; where they don't, take a newer GPU (A10, L4, A100, H100, RTX 30 and up).", facts)
    return Finding("GPU", State.GOOD, told, facts=facts)


def compiler(gpu: Mapping[str, str]) -> Finding:
    """Triton compiles a small launcher with it, on a GPU only."""
    found = next((path for name in (os.environ.get("CC", ""), "cc", "gcc", "clang") if name and (path := shutil.which(name))), None)
    if found:
        return Finding("C compiler", State.GOOD, found)
    if gpu:
        return Finding("C compiler", State.LESS, "none: Triton can't launch kernels on the GPU", "`apt-get install gcc` (or dnf, pacman)")
    return Finding("C compiler", State.ABSENT, "none; only kernels on a GPU need one")


def _asked() -> list[list[str]]:
    told = _said(QUERY)
    rows = [[part.strip() for part in line.split(",")] for line in told.splitlines()]
    return [row for row in rows if len(row) == 4]


def _said(arguments: list[str]) -> str:
    program = shutil.which("nvidia-smi")
    if program is None:
        return ""
    try:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _driver_cuda() -> str:
    told = re.search(r"CUDA Version:\s*([\d.]+)", _said([]))
    return told.group(1) if told else ""


def _unseen() -> Finding:
    """No answer from the driver: say whether there is a card without one."""
    listed = sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")) if sys.platform == "linux" else []
    if listed:
        model = re.search(r"Model:\s*(.+)", listed[0].read_text(encoding="utf-8", errors="replace"))
        return Finding("GPU", State.LESS, f"{model.group(1).strip() if model else 'an NVIDIA card'}, but `nvidia-smi` does not answer",
                       "In a container: start it with `--gpus all`. Else reinstall the NVIDIA driver.")
    if _card_without_driver():
        return Finding("GPU", State.LESS, "an NVIDIA card without a driver", "Install the driver (`apt-get install nvidia-driver`), then reboot.")
    return Finding("GPU", State.ABSENT, "no CUDA device: kernels run in Triton's interpreter and can get `provisional` at most", ELSEWHERE)


def _card_without_driver() -> bool:
    if sys.platform != "linux":
        return False
    for vendor in Path("/sys/bus/pci/devices").glob("*/vendor"):
        try:
            if vendor.read_text().strip() == "0x10de" and (vendor.parent / "class").read_text().startswith("0x03"):
                return True
        except OSError:
            continue
    return False


def _at_least(capability: str, major: int) -> bool:
    first = capability.partition(".")[0]
    return not first.isdigit() or int(first) >= major
