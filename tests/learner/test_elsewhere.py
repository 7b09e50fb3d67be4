"""Systems that aren't Linux, imitated by taking away what Linux or POSIX alone has: what can work works, the rest says why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attngrade.catalog import builtin

SHIMS = Path(__file__).parent / "elsewhere"
FIRST = builtin().exercises[0]
WORKING = [(), ("init", "new"), ("list",), ("show", "1"), ("hint", "1"), ("progress",), ("mark", "qk-norm", "--answer", "a norm"), ("questions", "qk-norm"),
           ("solution", "1", "--give-up"), ("export", "html", "--output", "q.html"), ("takehome", "new", "kit", "--exercise", "1"), ("completion", "bash")]
CHECKING = [("check", "1", "--file", str(FIRST.solution)), ("watch",), ("plot", "1", "--reference"), ("pack", "verify"), ("takehome", "grade", "x", "--kit", "x")]


@pytest.fixture(params=["mac", "windows"])
def system(request):
    return request.param


@pytest.fixture
def there(attngrade):
    """``there("mac", "list")``: the command on such a system."""
    return lambda system, *arguments: attngrade(*arguments, environ={"PYTHONPATH": str(SHIMS / system), "ATTNGRADE_TRACEBACK": "1"})


@pytest.mark.parametrize("arguments", WORKING, ids=lambda words: words[0] if words else "alone")
def test_what_needs_no_worker_works_without_posix(there, arguments):
    done = there("windows", *arguments)

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arguments", CHECKING, ids=lambda words: words[0])
def test_what_needs_a_worker_says_where_it_can_be_had(there, tmp_path, arguments):
    (tmp_path / "x").mkdir()
    done = there("windows", *arguments)

    assert done.returncode == 3
    assert "wsl --install" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_check_without_what_linux_alone_has_runs_as_a_plain_process_and_says_so(there):
    done = there("mac", "check", "1", "--file", str(FIRST.solution), "--format", "json")
    result = json.loads(done.stdout)["results"][0]

    assert (done.returncode, result["verdict"], result["isolation"]) == (0, "passed", "process")


def test_the_doctor_sees_each_of_them_through(there, system):
    done = there(system, "doctor", "--format", "json")
    found = {one["part"]: one for one in json.loads(done.stdout)["findings"]}

    assert found["Second jail"]["state"] == {"mac": "absent", "windows": "broken"}[system]
    assert found["Record"]["state"] == "good"
    assert "Traceback" not in done.stderr
