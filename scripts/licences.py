"""Under which licences the things come that attngrade stands on, read from the metadata of what is installed.

    python -m scripts.licences          (`make docs` writes the same into docs/licences.md)
"""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

NOT_IN_DEV = {"mkdocs-material": "MIT", "scikit-learn": "BSD-3-Clause"}  # the extras docs and readers are not installed with the rest
SHORT = {"License :: OSI Approved :: MIT License": "MIT", "License :: OSI Approved :: BSD License": "BSD", "License :: OSI Approved :: Apache Software License": "Apache-2.0"}


def declared() -> dict[str, list[str]]:
    """What pyproject.toml declares: "" (always) and each extra -> names."""
    project = tomllib.loads((Path(__file__).resolve().parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {extra: [name_of(line) for line in lines] for extra, lines in {"": project["dependencies"], **project["optional-dependencies"]}.items()}


def name_of(requirement: str) -> str:
    """The normalised name at the start of a requirement."""
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement).group()).lower()  # type: ignore[union-attr]


def licence(name: str) -> str:
    """SPDX where the package states it, else its classifier, else its first words."""
    try:
        told = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return NOT_IN_DEV.get(name, "not installed here")
    classified = [each for each in told.get_all("Classifier", []) if each.startswith("License ::")]
    stated = " ".join((told.get("License") or "").replace("UNKNOWN", "").split())
    return told.get("License-Expression") or (stated if 0 < len(stated) < 40 else "") or "; ".join(SHORT.get(each, each.split(" :: ")[-1]) for each in classified) or stated[:60] or "not stated"


def brought(names: list[str]) -> list[str]:
    """What those names bring with them, here and without extras, names themselves left out."""
    seen, waiting = set(names), list(names)
    while waiting:
        try:
            lines = metadata.requires(waiting.pop()) or []
        except metadata.PackageNotFoundError:
            continue
        fresh = {name_of(line) for line in lines if "extra ==" not in line} - seen
        fresh = {name for name in fresh if _here(name)}
        seen |= fresh
        waiting += fresh
    return sorted(seen - set(names))


def _here(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def page() -> str:
    """The page, a table for the package itself and for each extra."""
    lines = ["# Licences\n", "<!-- Written by `make docs`; don't edit by hand. -->\n", "attngrade is under Apache-2.0. It copies no code of the packages below; they are installed beside it. "
             "Bubblewrap (LGPL-2.0-or-later), a program of its own, is called where it is installed.\n"]
    for extra, names in declared().items():
        lines += [f"## {f'Extra `{extra}`' if extra else 'Always installed'}\n", "| package | licence |", "| --- | --- |", *(f"| {name} | {licence(name)} |" for name in sorted(set(names))), ""]
    lines += ["## What those bring with them\n", "As installed where this page was written (Linux, torch for the CPU); a torch with CUDA brings NVIDIA's libraries under NVIDIA's own terms.\n",
              "| package | licence |", "| --- | --- |", *(f"| {name} | {licence(name)} |" for name in brought([name for names in declared().values() for name in names]))]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page())
