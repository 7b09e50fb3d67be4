"""The second reader: it gives what patterns miss and doubts what they find, only where it is nearly sure, and never against what an answer says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from attngrade.quiz.evaluate import BAD
from attngrade.quiz.mark import mark, rubric_of
from attngrade.quiz.marking.second import CLEARLY, HARDLY, Reader, features, lesson, reader_at
from attngrade.quiz.marking.tokens import read
from attngrade.quiz.marking.withdrawal import mute
from attngrade.quiz.question import load_bank

BANK = load_bank()
LEARNED = sorted(path.stem for path in (BANK.folder / "learned").glob("*.json"))
QUESTION = "causal-mask-place"


def taught(tmp_path: Path, **weights: int) -> object:
    """The question with a reader that knows these words alone; they speak for the exact zero."""
    points = [point.id for point in BANK.get(QUESTION).points]
    rows = {word: [weight if point == "exact-zero" else 0 for point in points] for word, weight in weights.items()}
    path = tmp_path / "learned.json"
    path.write_text(json.dumps({"points": points, "bias": [-3000 if point == "exact-zero" else 0 for point in points], "weights": rows}))
    return replace(BANK.get(QUESTION), learned=path)


def test_the_rapid_fire_questions_have_a_reader_and_it_knows_their_points() -> None:
    assert set(BANK.ids[:8]) <= set(LEARNED)
    for name in LEARNED:
        reader = reader_at(BANK.folder / "learned" / f"{name}.json")
        assert reader is not None and list(reader.points) == [point.id for point in BANK.get(name).points]


def test_a_point_in_words_that_no_pattern_knows_is_given_with_its_sentence(tmp_path: Path) -> None:
    question = taught(tmp_path, zilch=9000)
    answer = "I like trains. What lies ahead gets zilch of it, to the last bit! The rest is as always and goes on."

    marking = mark(question, answer)

    assert "exact-zero" in marking.earned
    assert [marking.evidence(point) for point in marking.points if point.id == "exact-zero"] == ["What lies ahead gets zilch of it, to the last bit"]
    assert "exact-zero" not in mark(replace(question, learned=None), answer).earned


def test_where_it_is_not_nearly_sure_nothing_is_given(tmp_path: Path) -> None:
    assert "exact-zero" not in mark(taught(tmp_path, zilch=4000), "What lies ahead gets zilch of it.").earned


@pytest.mark.parametrize("answer", [
    "People say that what lies ahead gets zilch of it, but that is wrong.",
    "What lies ahead gets zilch of it, no wait, that is wrong.",
    "Either what lies ahead gets zilch of it or it doesn't, I can't remember which.",
])
def test_what_is_withdrawn_or_left_open_is_not_read(tmp_path: Path, answer: str) -> None:
    assert "exact-zero" not in mark(taught(tmp_path, zilch=9000), answer).earned


def test_what_a_pattern_meets_is_doubted_in_whole_sentences_alone(tmp_path: Path) -> None:
    short = "exp(-inf) = 0, so the weight is exactly zero."
    long = f"{short} And I have flobbered about this for a long time with all of my friends here."
    question = taught(tmp_path, flobbered=-9000)

    assert "exact-zero" in mark(replace(question, learned=None), long).earned
    assert "exact-zero" not in mark(question, long).earned
    assert "exact-zero" in mark(question, short).earned


def test_a_right_sentence_beside_wrong_ones_is_not_doubted(tmp_path: Path) -> None:
    answer = "exp(-inf) = 0, so the weight is exactly zero, zilch of it. And I have flobbered about this for a long time with all of my friends here."

    assert "exact-zero" in mark(taught(tmp_path, zilch=4000, flobbered=-9000), answer).earned
    assert "exact-zero" not in mark(taught(tmp_path, zilch=1000, flobbered=-9000), answer).earned


def test_the_more_patterns_agree_the_more_it_takes_to_doubt_them(tmp_path: Path) -> None:
    alone = "The softmax turns them into 0, which I have flobbered about for a long time with all of my friends here."
    agreed = f"exp(-inf) = 0, so that a later one has a weight of exactly zero: {alone.lower()}"
    question = taught(tmp_path, flobbered=2100)  # a likelihood of .29

    assert list(HARDLY) == sorted(HARDLY, reverse=True)
    assert {"exact-zero"} & set(mark(replace(question, learned=None), alone).earned) & set(mark(question, agreed).earned)
    assert "exact-zero" not in mark(question, alone).earned


def test_a_bank_without_learned_files_is_marked_by_its_rubric(tmp_path: Path) -> None:
    question = BANK.get(QUESTION)

    assert reader_at(tmp_path / "none.json") is None
    assert mark(replace(question, learned=tmp_path / "none.json"), question.answer).score == 1


def test_features_stay_within_a_sentence_and_leave_out_what_is_muted() -> None:
    text = read("Mask first. Softmax never sees them.", rubric_of(BANK.get(QUESTION)).lexicon.mend)
    mute(text)

    names = {name for name, _ in features(text.content)}

    assert {"mask", "mask first", "softmax", "softmax never", "softmax _ sees"} <= names, sorted(names)
    assert not any(name.startswith("first ") for name in names)


def test_likelihoods_come_from_whole_numbers_and_stay_between_nought_and_one() -> None:
    reader = Reader(("a", "b"), (-100_000, 250), {"yes": [90_000_000, 0]})
    text = read("yes")

    assert reader.likelihoods(text.content)["a"] == pytest.approx(1, abs=1e-9)
    assert 0.5 < reader.likelihoods(text.content)["b"] < CLEARLY
    assert reader.likelihoods([])["a"] == pytest.approx(0, abs=1e-9) and min(HARDLY) > 0


@pytest.mark.parametrize("name", LEARNED)
def test_with_it_no_answer_that_should_earn_nothing_earns_more_than_a_third(name: str) -> None:
    scores = {each.answer: mark(BANK.get(name), each.answer).score for each in BANK.labelled(name) if each.kind in BAD and not each.earned}

    assert scores and {answer: score for answer, score in scores.items() if score > 1 / 3} == {}


@pytest.mark.parametrize("name", LEARNED)
def test_it_has_learned_from_the_questions_and_answers_as_they_are_now(name: str) -> None:
    told = json.loads((BANK.folder / "learned" / f"{name}.json").read_text(encoding="utf-8"))

    assert told["learned_from"] == lesson(BANK.folder / f"{name}.yaml", BANK.folder / "labelled" / f"{name}.yaml"), "run `make readers`"
