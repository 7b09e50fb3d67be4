"""The calendar: ratings from marks, days from ratings, what to ask now."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from itertools import product

import pytest
from attngrade.quiz.schedule import (
    AGAIN,
    EASY,
    GOOD,
    HARD,
    Call,
    Card,
    Rated,
    card_number,
    cards,
    choose,
    day_of,
    interview_set,
    plan,
    preview,
    proposed_rating,
    reviewed,
    spread,
)
from hypothesis import given, settings
from hypothesis import strategies as st

TODAY = date(2026, 7, 26)
TOPICS = {"a1": "A", "a2": "A", "a3": "A", "b1": "B", "b2": "B", "c1": "C"}


def later(days: int) -> date:
    return TODAY + timedelta(days=days)


def rating(**changed: object) -> int:
    full = {"score": 1.0, "contradicted": False, "required_missed": False, "false_claim": False, "in_time": True, "hints": 0}
    return proposed_rating(**(full | changed))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, EASY), ({"in_time": False}, GOOD), ({"hints": 1}, GOOD), ({"score": 0.75}, GOOD), ({"score": 0.74}, HARD), ({"score": 0.5}, HARD),
        ({"score": 0.49}, AGAIN), ({"contradicted": True}, AGAIN), ({"required_missed": True}, AGAIN), ({"false_claim": True}, HARD),
        ({"score": 0.0}, AGAIN),
    ],
)  # fmt: skip
def test_the_marks_propose_the_rating(changed: dict[str, object], expected: int) -> None:
    assert rating(**changed) == expected


def test_a_better_answer_never_gets_a_worse_rating() -> None:
    for low, high in product([0.0, 0.25, 0.5, 0.75, 1.0], repeat=2):
        if low <= high:
            assert rating(score=low) <= rating(score=high)


def test_first_intervals_suit_once_a_day() -> None:
    assert preview(None, "q", TODAY) == {AGAIN: 1, HARD: 1, GOOD: 2, EASY: 8}


def test_a_day_ends_at_four_in_the_morning_of_the_persons_own_zone() -> None:
    tokyo = timezone(timedelta(hours=9))

    assert day_of(datetime(2026, 7, 26, 3, 59, tzinfo=tokyo)) == date(2026, 7, 25)
    assert day_of(datetime(2026, 7, 26, 4, 0, tzinfo=tokyo)) == date(2026, 7, 26)


def test_the_same_reviews_give_the_same_deck_and_known_answers_drift_apart() -> None:
    events = [Rated("q", TODAY, GOOD), Rated("q", later(2), GOOD), Rated("q", later(20), GOOD)]

    deck = cards(events, later(20))

    assert deck == cards(events, later(20))
    assert deck["q"].reviews == 3
    assert deck["q"].due > later(40)


def test_a_lapse_brings_a_question_back_tomorrow_or_nearly_so() -> None:
    events = [Rated("q", TODAY, GOOD), Rated("q", later(2), GOOD), Rated("q", later(20), AGAIN)]

    card = cards(events, later(20))["q"]

    assert card.due <= later(24)
    assert (card.lapses, card.wrong) == (1, True)


def test_a_review_dated_before_the_last_one_is_taken_as_that_day() -> None:
    card = reviewed(reviewed(Card("q", TODAY), GOOD, later(10)), GOOD, TODAY)

    assert card.due >= later(10)


def test_a_failed_exercise_brings_a_learned_question_forward_without_unlearning_it() -> None:
    known = [Rated("q", TODAY, EASY)]

    called = cards([*known, Call("q", later(1))], later(1))["q"]

    assert called.due == later(1)
    assert called.called
    assert called.memory.stability == cards(known, later(1))["q"].memory.stability
    assert not cards([*known, Call("q", later(1)), Rated("q", later(1), GOOD)], later(1))["q"].called


def test_before_an_interview_everything_comes_back_on_the_day_before_at_the_latest() -> None:
    events = [Rated("q", TODAY, EASY)]

    assert cards(events, TODAY, later(5))["q"].due == later(4)
    assert cards(events, TODAY, later(30))["q"].due == later(8)
    assert cards([Rated("q", later(4), EASY)], later(4), later(5))["q"].due == later(5)
    assert cards(events, later(6), later(5))["q"].due == later(8)
    assert preview(None, "q", TODAY, later(5))[EASY] == 4


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 400), st.sampled_from([1, 2, 3, 4])), min_size=1, max_size=12), st.integers(1, 400))
def test_whatever_the_history_a_question_comes_back_between_tomorrow_and_a_year(history: list[tuple[int, int]], ahead: int) -> None:
    events = [Rated("q", later(day), grade) for day, grade in sorted(history)]
    last = events[-1].day

    card = cards(events, last)["q"]

    assert timedelta(days=1) <= card.due - last <= timedelta(days=365)
    assert cards(events, last, last + timedelta(days=ahead))["q"].due <= max(last + timedelta(days=ahead), last + timedelta(days=1))


def test_card_numbers_are_stable_for_ever() -> None:
    assert card_number("score-variance") == NUMBER
    assert card_number("score-variance") != card_number("unlearnable")


NUMBER = 111502182965767


def test_topics_take_turns() -> None:
    assert spread(list(TOPICS), TOPICS) == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_due_questions_come_first_then_new_ones_topic_by_topic() -> None:
    deck = cards([Rated("a2", later(-5), GOOD), Rated("b2", later(-1), AGAIN), Rated("c1", TODAY, EASY)], TODAY)

    assert choose(TOPICS, deck, TODAY, count=5) == ["b2", "a2", "a1", "b1", "a3"]


def test_a_misconceptions_question_comes_before_everything_else() -> None:
    deck = cards([Rated("a2", later(-5), GOOD), Call("b1", TODAY)], TODAY)

    assert choose(TOPICS, deck, TODAY, count=2) == ["b1", "a2"]


def test_when_all_is_seen_and_nothing_due_the_soonest_due_are_asked() -> None:
    deck = cards([Rated(name, TODAY, EASY if name == "a1" else GOOD) for name in TOPICS], TODAY)

    assert choose(TOPICS, deck, TODAY, count=6)[-1] == "a1"
    assert choose(TOPICS, deck, TODAY, count=6, only="due") == []


def test_only_wrong_asks_what_was_rated_below_good_though_it_isnt_due() -> None:
    deck = cards([Rated("a1", TODAY, HARD), Rated("a2", TODAY, GOOD), Rated("b1", TODAY, AGAIN)], TODAY)

    assert set(choose(TOPICS, deck, TODAY, count=8, only="wrong")) == {"a1", "b1"}


def test_before_an_interview_new_questions_get_their_share_though_much_is_due() -> None:
    topics = {f"q{n}": "A" for n in range(40)}
    deck = cards([Rated(f"q{n}", later(-9), AGAIN) for n in range(20)], TODAY)

    without = choose(topics, deck, TODAY, count=8)
    with_date = choose(topics, deck, TODAY, count=8, interview=later(10))

    assert sum(name not in deck for name in without) == 0
    assert sum(name not in deck for name in with_date) == 2


def test_the_plan_counts_days_and_new_questions_a_day() -> None:
    deck = cards([Rated("a1", later(-9), GOOD)], TODAY)

    ahead = plan(TOPICS, deck, TODAY, later(2))

    assert (ahead.days_left, ahead.unseen, ahead.due, ahead.new_a_day) == (2, 5, 1, 3)
    assert plan(TOPICS, deck, TODAY, TODAY).new_a_day == 5


def test_an_interview_asks_every_topic_and_what_was_asked_longest_ago() -> None:
    deck = cards([Rated("a1", TODAY, GOOD), Rated("b1", later(-3), GOOD), Rated("b2", later(-1), GOOD)], TODAY)

    assert interview_set(TOPICS, deck, 3) == ["a2", "c1", "b1"]


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(TOPICS)), st.tuples(st.integers(-30, 0), st.sampled_from([1, 2, 3, 4]))), st.integers(1, 9))
def test_a_choice_never_repeats_a_question_nor_exceeds_the_count(history: dict[str, tuple[int, int]], count: int) -> None:
    deck = cards([Rated(name, later(day), grade) for name, (day, grade) in history.items()], TODAY)
    for only in ("", "due", "wrong"):
        chosen = choose(TOPICS, deck, TODAY, count=count, only=only)
        assert len(chosen) == len(set(chosen)) <= count
    assert len(choose(TOPICS, deck, TODAY, count=count)) == min(count, len(TOPICS))


def test_moments_given_to_fsrs_are_utc() -> None:
    assert reviewed(Card("q", TODAY), GOOD, TODAY).memory.last_review.tzinfo is UTC
