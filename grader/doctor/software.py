"""Python and its packages, by what is installed: nothing heavy is imported."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from .findings import Finding, State

OLDEST = (3, 11)
CUDA_BUILD = "install the build cu{tag} of torch: \"Get Started\" on pytorch.org gives the command"


def python() -> Finding:
    """The interpreter that runs this."""
    told = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info < OLDEST:
        return Finding("Python", State.BROKEN, told, "attngrade needs Python 3.11 or newer: install one and `pip install attngrade` with it.")
    return Finding("Python", State.GOOD, told)


def version(name: str) -> str | None:
    """The installed version of a distribution, or None."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def package(name: str, part: str) -> Finding:
    """A package that every check needs."""
    found = version(name)
    if found is None or importlib.util.find_spec(name) is None:
        return Finding(part, State.BROKEN, "not installed", f"`{sys.executable} -m pip install {name}`")
    return Finding(part, State.GOOD, found)


def torch(gpu: Mapping[str, str]) -> Finding:
    """PyTorch and the platform that it was built for, beside the GPU that is there."""
    basic = package("torch", "PyTorch")
    if basic.state is State.BROKEN:
        return Finding("PyTorch", State.BROKEN, "not installed: the exercises in PyTorch can't be checked, those in NumPy can", basic.remedy)
    cuda = torch_cuda()
    told = f"{basic.detail}, built for {f'CUDA {cuda}' if cuda else 'the CPU'}"
    facts = {"cuda": cuda or ""}
    if gpu and not cuda:
        build = CUDA_BUILD.format(tag=_wheel_tag(gpu.get("cuda", "")))
        return Finding("PyTorch", State.LESS, f"{told}; the GPU here stays unused", f"{build[0].upper()}{build[1:]}.", facts)
    if gpu and cuda and _newer(cuda, gpu.get("cuda", "")):
        build = CUDA_BUILD.format(tag=_wheel_tag(gpu["cuda"]))
        return Finding("PyTorch", State.LESS, f"{told}; the driver knows CUDA {gpu['cuda']} at most", f"Update the NVIDIA driver, or {build}.", facts)
    return Finding("PyTorch", State.GOOD, told, facts=facts)


def torch_cuda() -> str | None:
    """The CUDA version of the installed torch, read from its file of versions."""
    found = importlib.util.find_spec("torch")
    for folder in (found.submodule_search_locations or []) if found else []:
        try:
            text = (Path(folder) / "version.py").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        told = re.search(r"^cuda\b[^=\n]*=\s*['\"]([\d.]+)['\"]", text, re.MULTILINE)
        return told.group(1) if told else None
    return None


def triton() -> Finding:
    """The compiler of kernels; it exists for Linux."""
    found = version("triton") or version("triton-windows")
    if found and importlib.util.find_spec("triton"):
        return Finding("Triton", State.GOOD, f"{found}; without a GPU kernels run in its interpreter")
    if sys.platform != "linux":
        return Finding("Triton", State.ABSENT, f"there is none for {platform.system()}: exercises with a kernel can't be checked here, all others can",
                       "Check those on Linux: WSL 2, a container, or a Colab notebook (`%load_ext attngrade`).")
    return Finding("Triton", State.LESS, "not installed: exercises with a kernel can't be checked", f"`{sys.executable} -m pip install triton`")


def _newer(one: str, other: str) -> bool:
    major, known = one.partition(".")[0], other.partition(".")[0]
    return major.isdigit() and known.isdigit() and int(major) > int(known)


def _wheel_tag(driver: str) -> str:
    """The newest common build that a driver can run."""
    major, _, minor = driver.partition(".")
    known = (int(major), int(minor or 0)) if major.isdigit() and (minor or "0").isdigit() else (12, 6)
    return "130" if known >= (13, 0) else "128" if known >= (12, 8) else "126" if known >= (12, 6) else "118"
