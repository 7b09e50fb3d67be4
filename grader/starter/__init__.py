"""``pack new``: the text of a small exercise set that verifies, for hiring teams and teachers to start from."""

from __future__ import annotations

import importlib.resources
import os
import shutil
import tempfile
from pathlib import Path

from ..errors import UsageProblem


def write_pack(folder: Path) -> list[Path]:
    """Write the starter pack into ``folder`` (new or empty) and return its files. Raises UsageProblem; never overwrites."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageProblem(f"{folder} is {'not empty' if folder.is_dir() else 'a file'}. Name a new folder: attngrade pack new my_pack")
    source = Path(str(importlib.resources.files(__name__))) / "pack"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise UsageProblem(f"{folder} can't be written ({error.strerror}). Name another folder: attngrade pack new my_pack") from None
    try:
        shutil.copytree(source, beside, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        for path in beside.rglob("*.py.txt"):
            path.rename(path.with_suffix(""))
        os.chmod(beside, 0o755)
        if folder.exists():
            folder.rmdir()
        beside.rename(folder)
    except OSError as error:
        shutil.rmtree(beside, ignore_errors=True)
        raise UsageProblem(f"{folder} can't be written ({error.strerror}). Name another folder.") from None
    return sorted(path for path in folder.rglob("*") if path.is_file())
