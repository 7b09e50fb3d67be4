"""Hints: one at a time, and after a named mistake one about that mistake first."""

from __future__ import annotations

import json

import pytest
from attngrade.catalog import builtin

SIXTH = builtin().find("exercise06")
UNSCALED = SIXTH.solution.read_text(encoding="utf-8").replace("q.to(wide) * d**-0.5", "q.to(wide)") + '''

def flash_attention(q, k, v, causal=False):
    raise NotImplementedError
'''


@pytest.fixture
def workspace(attngrade, tmp_path):
    """A folder with an unscaled loop over blocks, checked once."""
    attngrade("init", "here")
    (tmp_path / "here" / SIXTH.stub.name).write_text(UNSCALED, encoding="utf-8")
    told = attngrade("check", "6", "--format", "json", cwd=tmp_path / "here")
    assert [named["id"] for named in json.loads(told.stdout)["results"][0]["misconceptions"]] == ["blocks-unscaled"]
    return tmp_path / "here"


def test_after_a_named_mistake_the_next_hint_is_about_it(attngrade, workspace):
    first = attngrade("hint", "6", cwd=workspace).stdout
    second = attngrade("hint", "6", cwd=workspace).stdout

    assert first.startswith(f"Hint 1 of {len(SIXTH.hints) + 1}: You were told: Your loop over the blocks uses the bare products")
    assert "Look at the factor Dh ** -0.5" in " ".join(first.split())
    assert " ".join(SIXTH.hints[0].split())[:30] in " ".join(second.split())


def test_a_hint_needs_no_torch(attngrade, workspace):
    told = attngrade("hint", "6", cwd=workspace, environ={"PYTHONPROFILEIMPORTTIME": "1"})

    assert told.stdout.startswith("Hint 1 of")
    assert not [line for line in told.stderr.splitlines() if line.rpartition("|")[2].strip() in ("torch", "numpy")]
