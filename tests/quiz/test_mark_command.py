"""`attngrade mark` and `attngrade questions`, as scripts use them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from attngrade.catalog import builtin
from attngrade.cli.mark import mark_command
from attngrade.cli.questions import questions_command
from attngrade.quiz.question import load_bank
from click.testing import CliRunner, Result

RIGHT = "With independent components of mean zero and variance one the variances add up to d_k."


def run(*args: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(mark_command, args, input=stdin)


def test_json_has_the_keys_that_scripts_rely_on() -> None:
    record = json.loads(run("score-variance", "--answer", RIGHT, "--format", "json").output)

    assert record["question"] == "score-variance"
    assert record["marker"] == "rubric"
    assert 0 < record["score"] < 1
    assert {"id", "earned", "evidence"} <= set(record["points"][0])
    assert record["flags"] == []


def test_evidence_is_quoted_from_the_answer() -> None:
    record = json.loads(run("score-variance", "--answer", RIGHT, "--format", "json").output)

    assert all(point["evidence"] in RIGHT for point in record["points"] if point["earned"])
    assert all(point["evidence"] for point in record["points"] if point["earned"])


def test_answer_file_and_standard_input_give_the_same_marks(tmp_path: Path) -> None:
    (tmp_path / "answer.txt").write_text(RIGHT)
    outputs = {
        run("score-variance", "--answer", RIGHT, "--format", "json").output,
        run("score-variance", "--file", str(tmp_path / "answer.txt"), "--format", "json").output,
        run("score-variance", "--file", "-", "--format", "json", stdin=RIGHT).output,
        run("score-variance", "--format", "json", stdin=RIGHT).output,
    }

    assert len(outputs) == 1


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_a_batch_gives_one_object_a_line_in_order_and_carries_other_keys(tmp_path: Path, suffix: str) -> None:
    rows = [{"question": "qk-norm", "answer": "", "who": "a"}, {"question": "score-variance", "answer": RIGHT, "who": "b"}]
    file = tmp_path / f"batch.{suffix}"
    as_yaml = "".join(f"- question: {r['question']}\n  answer: {r['answer']!r}\n  who: {r['who']}\n" for r in rows)
    file.write_text(json.dumps(rows) if suffix == "json" else as_yaml)
    lines = [json.loads(line) for line in run("--batch", str(file), "--format", "json").output.splitlines()]

    assert [(line["question"], line["who"]) for line in lines] == [("qk-norm", "a"), ("score-variance", "b")]
    assert lines[0]["flags"] == ["empty"]
    assert lines[1]["score"] > 0


def test_what_a_batch_carries_can_not_overwrite_marks(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(json.dumps([{"question": "qk-norm", "answer": "", "score": 1, "points": "all"}]))
    line = json.loads(run("--batch", str(tmp_path / "b.json"), "--format", "json").output)

    assert line["score"] == 0
    assert isinstance(line["points"], list)


@pytest.mark.parametrize(
    ("text", "says"),
    [("{}", "list"), ("- answer: x", "question"), ("- question: nope\n  answer: x", "nope"), ("- [", "neither JSON nor YAML"),
     ("- &a {question: qk-norm, answer: x}\n- *a", "aliases")],
)  # fmt: skip
def test_a_batch_that_can_t_be_read_says_what_was_expected(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "b.yaml").write_text(text)
    outcome = run("--batch", str(tmp_path / "b.yaml"))

    assert outcome.exit_code == 2
    assert says in outcome.output


@pytest.mark.parametrize("args", [[], ["nope"], ["qk-norm", "--answer", "a", "--file", "b"], ["qk-norm", "--file", "/no/such/file"]])
def test_a_wrong_command_line_exits_with_two(args: list[str]) -> None:
    assert run(*args, stdin="").exit_code == 2


def test_bytes_that_are_no_utf8_are_marked_all_the_same() -> None:
    assert run("score-variance", "--format", "json", stdin=b"\xff\xfe variances add up to d_k \x00").exit_code == 0


def test_text_output_names_each_point_and_no_control_character_gets_through() -> None:
    output = run("score-variance", "--answer", "the variances \x1b[31madd\x1b[0m up to d_k").output

    assert "\x1b" not in output
    assert all(point.claim in output for point in load_bank().get("score-variance").points)


def test_neither_numpy_nor_torch_is_imported_for_a_mark() -> None:
    code = (
        "import sys; from attngrade.quiz.mark import mark; from attngrade.quiz.question import load_bank;"
        "mark(load_bank().get('qk-norm'), 'q and k are normalised');"
        "print([m for m in ('numpy', 'torch', 'pytest') if m in sys.modules])"
    )

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_the_evaluation_says_what_it_was_measured_on(tmp_path: Path) -> None:
    (tmp_path / "unseen.json").write_text(json.dumps([{"question": "qk-norm", "answer": "q and k are normalised", "earned": ["what"]}]))
    runner = CliRunner()
    own = runner.invoke(questions_command, ["qk-norm", "--evaluate"]).output
    other = json.loads(runner.invoke(questions_command, ["--evaluate", "--answers", str(tmp_path / "unseen.json"), "--format", "json"]).output)

    assert "own labelled answers" in own
    assert other["measured_on"] == "unseen.json"
    assert other["overall"]["f1"] == 1


def test_the_bank_is_listed_and_shown() -> None:
    runner = CliRunner()

    assert "qk-norm" in runner.invoke(questions_command, []).output
    assert len(json.loads(runner.invoke(questions_command, ["--format", "json"]).output)) == len(load_bank().ids)
    assert load_bank().get("qk-norm").answer in runner.invoke(questions_command, ["qk-norm"]).output
    assert runner.invoke(questions_command, ["--lint"]).exit_code == 0
    assert runner.invoke(questions_command, ["--topic", "nope"]).exit_code == 2


@pytest.mark.parametrize(("name", "exercise"), [("mup-scale", None), ("temperature-limits", "exercise01")])
def test_a_question_points_to_an_exercise_that_exists_or_to_none(name: str, exercise: str | None) -> None:
    runner = CliRunner()
    listed = {row["id"]: row["exercise"] for row in json.loads(runner.invoke(questions_command, ["--format", "json"]).output)}

    assert listed[name] == json.loads(runner.invoke(questions_command, [name, "--format", "json"]).output)["exercise"] == exercise
    assert ("Practise it" in runner.invoke(questions_command, [name]).output) is bool(exercise)
    assert set(listed.values()) - {None} <= {one.id for one in builtin().exercises}


def test_questions_of_an_exercise_set_point_to_its_own_exercises(tmp_path: Path) -> None:
    (tmp_path / "questions").mkdir()
    (tmp_path / "exercises").mkdir()
    (tmp_path / "exercises" / "catalog.yaml").write_text("exercises:\n  - id: exercise07\n")
    for name in ("mup-scale", "temperature-limits"):
        (tmp_path / "questions" / f"{name}.yaml").write_text((load_bank().folder / f"{name}.yaml").read_text("utf-8"), "utf-8")

    assert [question.exercise for question in load_bank(tmp_path / "questions").questions] == ["exercise07", None]
