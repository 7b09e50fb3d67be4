"""`attngrade export`: what is written, and what is said when it can't be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def export(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "attngrade", "export", *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env={**os.environ, **environ}, check=False)


@pytest.mark.parametrize("style", ["csv", "tsv", "moodle", "html"])
def test_a_format_goes_to_the_screen_or_whole_to_a_file(style: str, tmp_path: Path) -> None:
    shown = export(style).stdout
    done = export(style, "--output", str(tmp_path / "out"))

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out").read_text(encoding="utf-8").splitlines() == shown.splitlines()
    assert os.listdir(tmp_path) == ["out"]


def test_output_is_utf_8_whatever_the_locale(tmp_path: Path) -> None:
    assert "√" in export("csv", LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0").stdout


def test_only_the_topics_asked_for_are_exported() -> None:
    assert "causal-mask-place" in export("csv", "--topic", "masks").stdout
    assert "score-variance" not in export("csv", "--topic", "masks").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["csv", "--topic", "cooking"], 2, "There is no topic 'cooking'. Topics:"),
        (["html", "--output", "no/such/folder/x"], 2, "can't be written"),
        (["csv", "--bank", "no-such-folder"], 3, "there is none"),
        (["papyrus"], 2, "No such command"),
    ],
)
def test_what_cant_be_exported_is_a_sentence(arguments: list[str], code: int, says: str) -> None:
    done = export(*arguments)

    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_without_genanki_the_way_to_get_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "genanki.py").write_text("raise ImportError('not here')")
    done = export("anki", "--output", str(tmp_path / "a.apkg"), PYTHONPATH=str(tmp_path))

    assert done.returncode == 3
    assert "pip install 'attngrade[anki]'" in done.stderr
    assert not (tmp_path / "a.apkg").exists()


_LOADED = """
import sys
from attngrade.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print(sorted({"torch", "numpy", "pytest", "triton"} & set(sys.modules)), file=sys.stderr)
"""


@pytest.mark.parametrize("arguments", [["export", "csv"], ["export", "html"], ["progress"], ["progress", "--format", "json"], ["quiz"]])
def test_nothing_heavy_is_loaded_for_questions(arguments: list[str], tmp_path: Path) -> None:
    environ = {**os.environ, "ATTNGRADE_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", _LOADED, *arguments], capture_output=True, text=True, env=environ, stdin=subprocess.DEVNULL, check=False)

    assert done.stderr.splitlines()[-1] == "[]"


def test_every_format_has_help_with_an_example() -> None:
    for style in ("", "anki", "csv", "tsv", "moodle", "html"):
        assert "Example: attngrade export" in export(*([style] if style else []), "--help").stdout
