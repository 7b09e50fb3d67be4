"""Each candidate is asked conventions of his own: his kit says so everywhere, and a file for another kit fails and is told as such."""

from __future__ import annotations

import filecmp
import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from attngrade.catalog import builtin, open_pack
from attngrade.checks.conventions import Interleaved, Times, negative, opposite
from attngrade.diagnosis.symptoms import masks
from attngrade.errors import PackProblem, UsageProblem
from attngrade.grading import Limits, grade, plan_for
from attngrade.grading.variants import Variant, conventions, others
from attngrade.sandbox.proxy import tensor
from attngrade.takehome.plan import read_plan
from attngrade.takehome.variants import answered, variant
from attngrade.verdict import CheckResult, Outcome, Reason, Verdict, Word
from attngrade.verify import Report, flipped_conventions

from tests.takehome.flips import EDITS, right
from tests.takehome.world import attngrade

ASKED = ("1", "3", "4")
EVERY = [Variant(builtin().find(name), one.flips) for name in ASKED for one in (Variant(builtin().find(name)), *others(Variant(builtin().find(name))))]


def called(own: Variant) -> str:
    return f"{own.asked.id}: {', '.join(sorted(own.flips)) or 'usual'}"


@pytest.fixture
def judged(crew):
    """The verdict on a source under a variant."""
    def run(own: Variant, source: str):
        plan = plan_for(own.asked, Limits(), "cpu")
        return grade(own.asked, source.encode(), seed=5, warm=lambda: crew.worker(plan), flips=own.flips)

    return run


@pytest.mark.parametrize("own", EVERY, ids=called)
def test_a_right_file_of_its_variant_passes_every_hidden_check(judged, own):
    verdict = judged(own, right(own.asked.id, own.flips))

    assert verdict.word == "passed", [(check.id, check.message) for check in verdict.failed]


@pytest.mark.parametrize("own", [own for own in EVERY if own.flips], ids=called)
def test_the_usual_solution_fails_where_another_convention_is_asked(judged, own):
    assert judged(own, right(own.asked.id, frozenset())).word == "failed"


@pytest.mark.slow
def test_a_right_kernel_passes_with_the_conventions_that_were_asked_alone(judged):
    own = Variant(builtin().find("6"), frozenset({"log-base", "causal-alignment"}))

    assert [judged(own, right("exercise06", flips)).word for flips in (own.flips, frozenset({"log-base"}))] == ["provisional", "failed"]


def test_a_stub_of_a_variant_earns_nothing(judged):
    for own in (EVERY[1], EVERY[-1]):
        assert judged(own, own.reworded(own.asked.stub.read_text(encoding="utf-8"))).score == 0


def test_every_flip_has_a_right_file_and_words_that_stand_in_stub_or_examples():
    for exercise in builtin().exercises:
        example = exercise.stub.parent / "examples" / f"test_{exercise.id}.py"
        text = exercise.stub.read_text(encoding="utf-8") + example.read_text(encoding="utf-8")
        for convention in conventions(exercise):
            assert (exercise.id, convention.id) in EDITS
            assert [usual for usual, _ in convention.texts if text.count(usual) != 1] == []
            assert len(Variant(exercise, frozenset({convention.id})).reworded(exercise.stub.read_text(encoding="utf-8"))) > 0


@pytest.mark.parametrize("name", ["3", "6"])
def test_the_solution_that_a_variant_brings_is_the_right_file_with_its_words(name):
    own = Variant(builtin().find(name), frozenset({"causal-alignment"}))

    assert own.exercise.solution.read_text(encoding="utf-8") == own.reworded(right(own.asked.id, own.flips))


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    """A pack of one's own whose exercise has a convention that flips: the sign of the result."""
    folder = tmp_path_factory.mktemp("packs") / "mine"
    attngrade("pack", "new", folder)
    (folder / "exercises" / "conventions").mkdir()
    (folder / "checks" / "conventions_softcap.py").write_text(
        "from attngrade.checks.conventions import RESULT, negative, reads\n\n\n@reads('sign', of='softcap')\ndef turned(given):\n    return {RESULT: negative}\n")
    return folder


def test_a_pack_of_one_s_own_may_have_conventions_and_they_are_verified(mine, crew):
    def told_by_verify(folder: Path, table: str) -> list[str]:
        (folder / "exercises" / "conventions" / "softcap.yaml").write_text(table)
        conventions.cache_clear()
        exercise = open_pack(folder).exercises[0]
        report = Report(exercise.id)
        flipped_conventions(exercise, report, partial(grade, exercise, warm=lambda: crew.worker(plan_for(exercise, Limits(), "cpu"))))
        return report.problems

    sentence = open_pack(mine).exercises[0].stub.read_text().splitlines()[0].strip('"')
    row = f"conventions: [{{id: sign, usual: as it is, other: negative, functions: [softcap], texts: [{{usual: {sentence!r}, other: x}}]}}]"
    assert told_by_verify(mine, row) == []

    idle = told_by_verify(mine, row.replace("id: sign", "id: nothing").replace(repr(sentence), "'no such words'"))
    assert any("neither stub nor examples say" in problem for problem in idle) and any("no check tells them apart" in problem for problem in idle)
    wrong = told_by_verify(mine, row.replace("softcap]", "other], solution: none.py"))
    assert any("`other` is no function" in problem for problem in wrong) and any("none.py is missing" in problem for problem in wrong)


# ---------------------------------------------------------------- the exchange


def test_every_exchange_is_undone_exactly_and_keeps_shape_and_dtype():
    x = tensor(np.arange(24.0).reshape(2, 12), "float32")
    mask = tensor(np.arange(6).reshape(2, 3) % 2 == 0)
    for change, value in [(Interleaved(-1, 3), x), (Interleaved(-2, 2), x), (Times(0.5), x), (negative, x), (opposite, mask)]:
        there = change.out(value)
        back = change.home(there)
        assert (there.dtype, there.data.shape, there.extra) == (value.dtype, value.data.shape, value.extra)
        assert np.array_equal(back.data, value.data)


def test_what_an_exchange_does_not_fit_passes_as_it_is():
    x, numbers = tensor(np.arange(10.0).reshape(2, 5)), tensor(np.ones((2, 2), "int64"))
    for change, value in [(Interleaved(-1, 3), x), (Interleaved(-1, 0), x), (Interleaved(-1, None), x), (Interleaved(-2, True), x), (Interleaved(-3, 2), x),
                          (Interleaved(-1, 2), None), (Interleaved(-1, 2), "text"), (opposite, numbers), (opposite, True), (Times(2.0), numbers), (negative, "a")]:
        assert change.out(value) is value and change.home(value) is value


def test_gradients_come_home_by_the_transposed_exchange():
    x, up = tensor(np.arange(4.0)), tensor(np.arange(4.0) + 1)
    for change in (Interleaved(-1, 2), Times(3.0), negative):
        pushed = float(change.home(x).data @ up.data)
        pulled = float(x.data @ change.cotangent_out(up).data)
        assert pushed == pytest.approx(pulled)
        assert float(change.out(x).data @ up.data) == pytest.approx(float(x.data @ change.gradient_home(up).data))


def test_a_symptom_measures_from_the_diagonal_that_was_asked():
    asked = np.tri(3, 5, dtype=bool)  # the first query on the first key

    assert "1 key too far to the left" in masks(np.tri(3, 5, -1, dtype=bool), asked)
    assert "2 keys too far to the right" in masks(np.tri(3, 5, 2, dtype=bool), asked)


# ---------------------------------------------------------------- kits


@pytest.fixture(scope="module")
def team(tmp_path_factory) -> Path:
    """A take-home whose forty candidates have variants of exercises 01, 03 and 04."""
    folder = tmp_path_factory.mktemp("team") / "kit"
    (folder.parent / "list.txt").write_text("# who\n" + "".join(f"candidate {n}\n" for n in range(38)), encoding="utf-8")
    asked = [word for name in ASKED for word in ("--exercise", name)]
    attngrade("takehome", "new", folder, *asked, "--question", "qk-norm", "--variants", "--candidates", folder.parent / "list.txt", "--candidate", "ada", "--candidate", "zoë")
    return folder


def plan_of(folder: Path):
    return read_plan(folder, builtin(), frozenset({"qk-norm"}))


def candidate_with(folder: Path, exercise: str, flips: frozenset[str]) -> str:
    """A candidate of the team with these flips."""
    return next(name for name in (f"candidate {n}" for n in range(38)) if variant(plan_of(folder), name, builtin().find(exercise)).flips == flips)


def test_candidates_get_every_variant_between_them(team):
    for name in ASKED:
        exercise = builtin().find(name)
        seen = {variant(plan_of(team), f"candidate {n}", exercise).flips for n in range(38)}
        assert seen == {frozenset(), *(other.flips for other in others(Variant(exercise)))}


def test_the_same_secret_makes_the_same_bytes_again_and_another_makes_others(team, tmp_path):
    for name in ("takehome.yaml", "secret.key"):
        (tmp_path / name).write_bytes((team / name).read_bytes())
    attngrade("takehome", "build", tmp_path, "--candidate", "ada")
    compared = filecmp.dircmp(team / "candidates" / "ada", tmp_path / "candidates" / "ada")
    assert not compared.left_only and not compared.right_only and not compared.diff_files
    (tmp_path / "secret.key").write_text("another")
    asked = {builtin().find(name): None for name in ASKED}

    ours, theirs = ([variant(plan_of(folder), f"candidate {n}", e).flips for n in range(20) for e in asked] for folder in (team, tmp_path))
    assert ours != theirs


def test_no_kit_holds_the_secret_or_another_variant_s_words(team):
    secret = (team / "secret.key").read_text()
    for folder in (team / "candidates").iterdir():
        texts = "\n".join(path.read_text(encoding="utf-8") for path in folder.iterdir())
        assert secret not in texts and "attngrade" not in texts
        name = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["candidate"]
        for exercise in map(builtin().find, ASKED):
            own = variant(plan_of(team), name, exercise)
            for convention in conventions(exercise):
                wrong = [there if convention.id not in own.flips else here for here, there in convention.texts]
                right_ones = [there if convention.id in own.flips else here for here, there in convention.texts]
                stub = (folder / f"{exercise.module}.py").read_text(encoding="utf-8") + (folder / f"test_{exercise.id}.py").read_text(encoding="utf-8")
                assert [text for text in right_ones if text not in stub] == []
                assert [text for text in wrong if text in stub and not any(text in kept for kept in right_ones)] == []


def test_the_examples_of_a_kit_pass_with_a_right_file_of_its_variant_and_fail_with_the_usual_one(team, tmp_path):
    flips = frozenset({"mask-polarity", "causal-alignment"})
    kit = team / "candidates" / candidate_with(team, "3", flips).replace(" ", "_")
    four = variant(plan_of(team), json.loads((kit / "manifest.json").read_text())["candidate"], builtin().find("4"))
    for exercise, own in (("exercise03", flips), ("exercise04", four.flips)):
        module = builtin().find(exercise).module
        (tmp_path / f"test_{exercise}.py").write_text((kit / f"test_{exercise}.py").read_text(encoding="utf-8"), encoding="utf-8")
        (tmp_path / f"{module}.py").write_text(right(exercise, own), encoding="utf-8")
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    assert subprocess.run(run, capture_output=True, cwd=tmp_path).returncode == 0
    (tmp_path / f"{builtin().find('3').module}.py").write_text(right("exercise03", frozenset()), encoding="utf-8")

    assert subprocess.run(run, capture_output=True, cwd=tmp_path).returncode == 1


def test_a_kit_of_one_s_own_packs_under_its_own_name(team, tmp_path):
    for path in (team / "candidates" / "zoë").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())

    subprocess.run([sys.executable, "pack.py"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "zoë.zip").is_file()


def test_variants_without_candidates_make_no_kit_and_say_what_to_do(tmp_path):
    told = attngrade("takehome", "new", tmp_path / "kit", "--exercise", "3", "--variants")

    assert "--candidate ID" in told and not (tmp_path / "kit" / "candidate").exists()


def test_a_kit_for_everybody_goes_once_each_has_his_own(tmp_path):
    attngrade("takehome", "new", tmp_path / "kit", "--exercise", "3")
    path = tmp_path / "kit" / "takehome.yaml"
    path.write_text(path.read_text().replace("variants: false", "variants: true"))
    attngrade("takehome", "build", tmp_path / "kit", "--candidate", "bob")

    assert not (tmp_path / "kit" / "candidate").exists() and (tmp_path / "kit" / "candidates" / "bob").is_dir()


@pytest.mark.parametrize("names", [("a b", "a_b"), ("Ada", "ada"), ("..",), ("x" * 101,), ("a\x1bb",)])
def test_candidates_that_would_share_a_folder_or_have_no_name_are_refused(tmp_path, names):
    with pytest.raises(UsageProblem, match="differ in letters and digits"):
        attngrade("takehome", "new", tmp_path / "kit", "--exercise", "3", "--variants", *(word for name in names for word in ("--candidate", name)))


def test_variants_is_true_or_false(tmp_path):
    attngrade("takehome", "new", tmp_path / "kit", "--exercise", "3")
    path = tmp_path / "kit" / "takehome.yaml"
    path.write_text(path.read_text().replace("variants: false", "variants: both"))

    with pytest.raises(PackProblem, match="variants: true"):
        attngrade("takehome", "build", tmp_path / "kit")


# ---------------------------------------------------------------- a neighbour's file


HIDDEN, TOP_LEFT = frozenset({"mask-polarity"}), frozenset({"causal-alignment"})


@pytest.fixture(scope="module")
def graded_team(team, tmp_path_factory):
    """What the batch says of four returns: a neighbour's file, that neighbour's own, a stranger's, and a wrong one of its own variant."""
    folder = tmp_path_factory.mktemp("returns")
    owners = {"copied": candidate_with(team, "3", HIDDEN), "own": candidate_with(team, "3", TOP_LEFT), "unknown": "stranger",
              "wrong": candidate_with(team, "3", HIDDEN | TOP_LEFT)}
    sources = {"copied": right("exercise03", TOP_LEFT), "own": right("exercise03", TOP_LEFT), "unknown": "",
               "wrong": right("exercise03", HIDDEN | TOP_LEFT).replace('float("-inf")', "-1e9")}
    for case, owner in owners.items():
        home = folder / "in" / owner.replace(" ", "_")
        home.mkdir(parents=True)
        (home / f"{builtin().find('3').module}.py").write_text(sources[case], encoding="utf-8")
    attngrade("takehome", "grade", folder / "in", "--kit", team, "--results", folder / "out", "--jobs", "1")
    attngrade("takehome", "report", team, "--results", folder / "out", "--output", folder / "pages")
    report = json.loads((folder / "pages" / "report.json").read_text())
    jsonschema.validate(report, json.loads((Path(__file__).parents[2] / "docs" / "schemas" / "report.json").read_text(encoding="utf-8")))
    rows = {row["candidate"]: row for row in report["results"]}
    pages = [path.read_text(encoding="utf-8") for path in (folder / "pages" / "candidates").iterdir()]
    return owners, {case: rows[owner.replace(" ", "_")] for case, owner in owners.items()}, pages


def mask_part(row):
    return next(part for part in row["exercises"] if part["exercise"] == "exercise03")


def test_a_neighbour_s_file_fails_and_the_report_says_whose_variant_it_answers(graded_team):
    owners, told, pages = graded_team
    part, remarks = mask_part(told["copied"]), " ".join(told["copied"]["remarks"])

    assert part["verdict"] == "failed" and part["variant"]["answers"]["flips"] == ["causal-alignment"] and not part["misconceptions"]
    assert "answers another variant" in remarks and owners["own"] in remarks
    assert sum("Another variant." in page for page in pages) == 1 and any("shown in the usual convention" in page for page in pages)


@pytest.mark.parametrize("reason", [Reason.TIMEOUT, Reason.MEMORY, Reason.NOT_IMPLEMENTED, Reason.LOAD_ERROR])
def test_a_file_that_met_a_limit_or_gave_no_value_is_not_asked_in_other_variants(reason):
    lost = [CheckResult(str(n), "T", Outcome.FAILED, 0.0, 1.0, reason=reason) for n in range(2)]
    limits = [CheckResult("2", "T", Outcome.FAILED, 0.0, 1.0, reason=Reason.WRONG_RESULT)] if reason in (Reason.TIMEOUT, Reason.MEMORY) else []
    verdict = Verdict("exercise03", "T", Word.FAILED, reason, checks=(*lost, *limits))

    assert answered(Variant(builtin().find("3")), verdict, pytest.fail) is None


def test_a_right_file_of_one_s_own_variant_passes_without_a_remark(graded_team):
    row = graded_team[1]["own"]

    assert mask_part(row)["verdict"] == "passed" and mask_part(row)["variant"]["answers"] is None
    assert not any("variant" in remark for remark in row["remarks"])


def test_a_return_under_a_name_that_has_no_kit_is_told_as_such(graded_team):
    assert any("No kit was made" in remark for remark in graded_team[1]["unknown"]["remarks"])


def test_a_wrong_file_of_its_own_variant_answers_no_other_and_is_told_in_which_convention(graded_team):
    part = mask_part(graded_team[1]["wrong"])

    assert part["verdict"] == "failed" and part["variant"]["answers"] is None
    assert part["misconceptions"] and all(named["message"].startswith("(Told in the usual convention.)") for named in part["misconceptions"])
