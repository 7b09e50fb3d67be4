"""A starter pack, written by the command that people use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from attngrade.cli import main


@dataclass(frozen=True)
class Told:
    """Exit code and text of a command."""

    code: int
    text: str


Run = Callable[..., Told]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """``run("pack", "verify", folder)`` in this process, with a store of its own."""
    monkeypatch.setenv("ATTNGRADE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: object) -> Told:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return Told(int(ended.value.code or 0), out + err)

    return invoke


@pytest.fixture
def pack(tmp_path: Path, run: Run) -> Path:
    """What ``pack new`` writes."""
    folder = tmp_path / "mine"
    assert run("pack", "new", folder).code == 0
    return folder
