"""A small take-home and what came back for it."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.takehome.world import FILE, RIGHT, WRONG, attngrade


@pytest.fixture(scope="session")
def kit(tmp_path_factory) -> Path:
    """A take-home with exercise 02 and two questions."""
    folder = tmp_path_factory.mktemp("team") / "kit"
    attngrade("takehome", "new", folder, "--exercise", "2", "--question", "score-variance", "--question", "qk-norm")
    return folder


@pytest.fixture
def returns(tmp_path) -> Path:
    """A folder of returns of every kind, three of them fit to grade."""
    folder = tmp_path / "returns"
    (folder / "Ada Lovelace" / "deep" / "er").mkdir(parents=True)
    (folder / "Ada Lovelace" / "deep" / "er" / FILE).write_text(RIGHT, encoding="utf-8")
    (folder / "Ada Lovelace" / "answers.yaml").write_text("score-variance: |\n  the std is sqrt(d_k)\n", encoding="utf-8")
    with zipfile.ZipFile(folder / "-rf zoë.zip", "w") as archive:
        archive.writestr(f"zoë/{FILE}", WRONG)
    with tarfile.open(folder / "bob.tar.gz", "w:gz") as archive:
        _add(archive, f"bob/{FILE}", RIGHT.encode())
    (folder / "broken.zip").write_bytes(b"PK\x03\x04 nothing more")
    (folder / "notes.txt").write_text("hello", encoding="utf-8")
    return folder


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    archive.addfile(member, io.BytesIO(data))
