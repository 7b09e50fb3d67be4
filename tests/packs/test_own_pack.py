"""A set of one's own is met by the same commands as the built-in one, and what is broken in it is told at once, with file and line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attngrade.catalog import open_pack
from attngrade.verify import joined, part, verify


def change(path: Path, old: str, new: str) -> int:
    """Put ``new`` where ``old`` stands, and return the line."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


def test_what_pack_new_writes_verifies(run, pack):
    told = run("pack", "verify", pack)

    assert told.code == 0, told.text
    assert "4 misconceptions, 3 checks" in told.text


def test_pack_new_overwrites_nothing(run, pack):
    before = {path: path.read_bytes() for path in pack.rglob("*") if path.is_file()}

    told = run("pack", "new", pack)

    assert told.code == 2
    assert "is not empty" in told.text
    assert {path: path.read_bytes() for path in pack.rglob("*") if path.is_file()} == before


def test_its_exercises_are_checked_and_the_mistake_is_named(run, pack):
    wrong = pack / "wrong.py"
    wrong.write_text("import numpy as np\n\ndef softcap(x, cap):\n    if cap <= 0:\n        raise ValueError('cap')\n    return np.clip(x, -cap, cap)\n")

    right = run("check", "1", "--pack", pack, "--file", pack / "solutions" / "exercise01_softcap.py")
    told = run("check", "1", "--pack", pack, "--file", wrong, "--format", "json")

    assert right.code == 0, right.text
    assert told.code == 1
    assert [found["id"] for found in json.loads(told.text)["results"][0]["misconceptions"]] == ["hard-clip"]


def test_shares_of_an_exercise_join_into_the_report_of_the_whole(run, pack):
    exercise = open_pack(pack).find("exercise01")

    whole, shared = verify(exercise), joined([part(exercise, share, 3) for share in range(3)])

    assert whole.problems == []
    assert list(shared.table.items()) == list(whole.table.items())
    assert (shared.functions, shared.checks, shared.right, shared.problems, shared.remarks) == (whole.functions, whole.checks, whole.right, whole.problems, whole.remarks)


def test_a_check_is_idle_only_if_no_share_of_the_wrong_ideas_fails_it(run, pack):
    checks = pack / "checks" / "check_softcap.py"
    checks.write_text(checks.read_text() + "\n\n@points(0)\n@of('softcap')\ndef test_is_there(submission):\n    \"\"\"It is there.\"\"\"\n    submission.softcap(np.ones(1), 1.0)\n")
    exercise = open_pack(pack).find("exercise01")

    shared = joined([part(exercise, share, 2) for share in range(2)])

    assert shared.problems == ["check is-there: no misconception fails it; is it needed?"]


def test_attempts_at_its_exercises_are_recorded_apart_from_those_of_the_built_in_set(run, pack, tmp_path):
    assert run("init", tmp_path / "work", "--pack", pack).code == 0
    where = ("--workspace", tmp_path / "work")
    (tmp_path / "work" / "exercise01_softcap.py").write_text((pack / "solutions" / "exercise01_softcap.py").read_text())

    assert run("check", "1", "--pack", pack, *where).code == 0

    assert "passed" in run("list", "--pack", pack, *where).text
    assert "passed" not in run("list").text
    assert run("solution", "1", "--pack", pack).code == 0
    assert "isn't passed yet" in run("solution", "1").text
    own, builtin = (json.loads(run("progress", "--format", "json", *which).text)["exercises"][0]["verdict"] for which in (("--pack", pack), ()))
    assert (own, builtin) == ("passed", "untried")


def test_checks_may_lie_in_parts_beside_the_first_file(run, pack):
    whole = (pack / "checks" / "check_softcap.py").read_text()
    head, *checks = whole.split("@points")
    (pack / "checks" / "check_softcap.py").write_text("@points".join([head, *checks[:2]]))
    (pack / "checks" / "check_softcap_refusals.py").write_text("@points".join([head, *checks[2:]]))

    told = run("pack", "verify", pack)

    assert told.code == 0, told.text
    assert "4 misconceptions, 3 checks" in told.text


def test_a_part_of_the_checks_that_no_python_reads_is_told_and_nothing_is_run(run, pack):
    (pack / "checks" / "check_softcap_more.py").write_text("def test_(:\n")

    told = run("pack", "verify", pack)

    assert told.code == 1
    assert "checks/check_softcap_more.py:1: " in told.text
    assert "can't be collected" not in told.text


def test_a_slug_that_begins_another_is_refused(run, pack):
    catalog = pack / "exercises" / "catalog.yaml"
    entry = catalog.read_text().partition("exercises:\n")[2]
    catalog.write_text(catalog.read_text() + entry.replace("exercise01", "exercise02").replace("slug: softcap", "slug: softcap_more"))
    for home, name in (("exercises", "exercise02_softcap_more.py"), ("solutions", "exercise02_softcap_more.py"), ("checks", "check_softcap_more.py")):
        (pack / home / name).write_text("")

    told = run("list", "--pack", pack)

    assert told.code == 3
    assert "catalog.yaml:3: slug softcap begins the slug softcap_more" in told.text


def test_its_exercises_are_listed_and_have_hints(run, pack):
    assert "Soft-capped scores" in run("list", "--pack", pack).text
    assert "smooth function" in run("hint", "1", "--pack", pack).text


def test_its_questions_are_listed_marked_and_exported(run, pack, tmp_path):
    assert "why-softcap" in run("questions", "--pack", pack).text
    assert "50%" in run("mark", "why-softcap", "--pack", pack, "--answer", "tanh keeps a gradient").text
    assert run("export", "csv", "--pack", pack, "--output", tmp_path / "cards.csv").code == 0
    assert "why-softcap" in (tmp_path / "cards.csv").read_text()


def test_questions_are_not_looked_for_where_there_are_none(run, tmp_path):
    told = run("mark", "why-softcap", "--pack", tmp_path, "--answer", "x")

    assert told.code == 2
    assert "has no folder questions/" in told.text


def test_a_take_home_is_made_of_it_without_its_answers(run, pack, tmp_path):
    told = run("takehome", "new", tmp_path / "kit", "--pack", pack, "--exercise", "1", "--question", "why-softcap")

    assert told.code == 0, told.text
    given = b"\n".join(path.read_bytes() for path in (tmp_path / "kit" / "candidate").rglob("*") if path.is_file())
    assert b"exercise01" in given
    assert b"np.tanh" not in given


def test_problems_of_the_catalog_are_told_at_once_with_their_lines(run, pack):
    catalog = pack / "exercises" / "catalog.yaml"
    first = change(catalog, "framework: numpy", "framework: jax")
    second = change(catalog, "points: 5", "points: five")
    third = change(catalog, "title: Soft-capped scores", "titel: Soft-capped scores")

    told = run("pack", "verify", pack)

    assert told.code == 3
    assert f"catalog.yaml:{second}: exercise01: field `points` has the wrong type; expected a number" in told.text
    assert f"catalog.yaml:{third}: exercise01: unknown field `titel`" in told.text
    assert "field `title` is missing" in told.text
    assert f"catalog.yaml:{first}: exercise01: framework is numpy or torch, not jax" in told.text


def test_a_catalog_that_is_no_yaml_is_told_with_its_line_and_the_rest_is_read_all_the_same(run, pack):
    line = change(pack / "exercises" / "catalog.yaml", "    slug: softcap", "    slug: [softcap")
    (pack / "checks" / "check_softcap.py").write_text("import numpy as np\n\ndef test_(:\n")

    told = run("pack", "verify", pack)

    assert told.code == 3
    assert f"catalog.yaml:{line + 1}: " in told.text
    assert "checks/check_softcap.py:3: " in told.text


def test_problems_of_all_files_are_told_at_once_with_their_lines(run, pack):
    advice = change(pack / "misconceptions" / "softcap.py", "    Look at: what stands inside tanh.\n", "")
    of = change(pack / "misconceptions" / "softcap.py", '@misconception("hard-clip", of="softcap")', '@misconception("hard-clip", of="softclip")')
    imports = change(pack / "checks" / "check_softcap.py", "import numpy as np\n", "import numpy as np\nimport torch\n")
    asks = change(pack / "misconceptions" / "softcap.py", '@misconception("grows-like-a-logarithm", of="softcap")', '@misconception("grows-like-a-logarithm", of="softcap", question="no-such")')
    (pack / "checks" / "check_other.py").write_text("")
    (pack / "questions" / "why-softcap.yaml").write_text((pack / "questions" / "why-softcap.yaml").read_text().replace("difficulty: 2", "difficulty: 9"))

    told = run("pack", "verify", pack)

    assert told.code == 1
    for sentence in (
        f"misconceptions/softcap.py:{advice - 5}: misconception cap-multiplied-only: its docstring lacks Look at:",
        f"misconceptions/softcap.py:{of + 1}: misconception hard-clip: `of` names softclip",
        f"checks/check_softcap.py:{imports + 1}: imports torch; checks compute with NumPy from the formula",
        f"misconceptions/softcap.py:{asks + 1}: misconception grows-like-a-logarithm: there is no question no-such",
        "checks/check_other.py:1: belongs to no exercise",
        "questions/why-softcap.yaml: difficulty is 1 to 5, not 9",
    ):
        assert sentence in told.text


def test_a_file_that_no_python_reads_is_told_and_nothing_is_run(run, pack):
    (pack / "solutions" / "exercise01_softcap.py").write_text("def softcap(x, cap)\n    return x\n")

    told = run("pack", "verify", pack)

    assert told.code == 1
    assert "solutions/exercise01_softcap.py:1: expected ':'" in told.text


@pytest.mark.parametrize(("file", "old", "new", "sentence"), [
    ("solutions/exercise01_softcap.py", "np.tanh(x / cap)", "np.tanh(x)", "is right and ends failed"),
    ("exercises/exercise01_softcap.py", 'raise NotImplementedError("softcap has to squash x into [-cap, cap]")', "return x", "it has to fail as not-implemented"),
    ("misconceptions/softcap.py", "return np.clip(x, -cap, cap)", "return cap * np.tanh(x / cap)", "misconception hard-clip: no check fails it"),
    ("checks/check_softcap.py", "@points(1)", "@points(2)", "the catalog says 5"),
])
def test_a_pack_that_does_not_hold_what_it_promises_is_not_admitted(run, pack, file, old, new, sentence):
    change(pack / file, old, new)

    told = run("pack", "verify", pack)

    assert told.code == 1
    assert sentence in told.text
