"""Between the log and the cards."""

from __future__ import annotations

from datetime import date, timedelta

from attngrade.quiz.deck import INTERVIEW, given_answers, interview_date, load_deck, rate, remember_misconceptions, settle, unrated
from attngrade.store import Answer, Called, Flip, Review, Store

from .conftest import Clock, SmallBank


def test_a_misconceptions_question_is_on_the_deck_today(store: Store, clock: Clock) -> None:
    assert remember_misconceptions(store, ["masks", None, "masks", "variance"], clock(), because="exercise03") == ["masks", "variance"]

    assert set(load_deck(store, clock()).due) == {"masks", "variance"}
    assert {entry.record.because for entry in store.entries(Called)} == {"exercise03"}


def test_failing_the_same_check_again_adds_nothing_until_the_question_was_answered(store: Store, clock: Clock) -> None:
    for _ in range(20):
        remember_misconceptions(store, ["masks"], clock())
    assert len(store.entries(Called)) == 1

    rate(store, "masks", store.add(Answer("masks", "text", 1.0), clock()), 4, clock())
    clock.tomorrow()
    assert remember_misconceptions(store, ["masks"], clock()) == ["masks"]
    assert load_deck(store, clock()).due == ["masks"]


def test_a_passed_check_puts_nothing_on_the_deck(store: Store, clock: Clock) -> None:
    assert remember_misconceptions(store, [], clock()) == []
    assert store.entries() == []


def test_rating_an_answer_again_replaces_its_rating(store: Store, clock: Clock) -> None:
    name = store.add(Answer("masks", "text", 0.0), clock())
    for rating in (1, 4):
        rate(store, "masks", name, rating, clock())

    card = load_deck(store, clock()).cards["masks"]

    assert (card.reviews, card.rating, card.due) == (1, 4, date(2026, 8, 3))


def test_a_rating_is_of_the_persons_own_day_whatever_the_clock_of_the_log(store: Store, clock: Clock) -> None:
    clock.at = clock.at.replace(hour=1)
    rate(store, "masks", store.add(Answer("masks", "text", 0.0), clock()), 3, clock())

    assert store.entries(Review)[0].record.day == "2026-07-25"


def test_flips_are_counted_and_a_replaced_answer_is_left_out(store: Store, clock: Clock) -> None:
    first = store.add(Answer("masks", "typo", 0.0), clock())
    second = store.add(Answer("masks", "text", 0.5, earned=("mean",), contradicted=("std",), replaces=first), clock())
    store.add_all([Flip(second, "std", True, 1.0), Flip(second, "mean", False, 0.5)], clock())

    [given] = given_answers(store)

    assert (given.text, given.earned, given.score, given.contradicted) == ("text", ("std",), 0.5, False)


def test_answers_left_unrated_by_a_crash_are_rated_by_their_marks_on_their_own_day(store: Store, clock: Clock, bank: SmallBank) -> None:
    store.add_all([Answer("masks", "text", 1.0, earned=("mean", "std")), Answer("scale", "text", 0.5, earned=("mean",)), Answer("gone", "", 0.0)], clock())
    assert unrated(store, clock()) == []

    clock.tomorrow()
    assert settle(store, bank, clock()) == 2  # type: ignore[arg-type]
    assert settle(store, bank, clock()) == 0  # type: ignore[arg-type]
    deck = load_deck(store, clock())
    assert {name: card.rating for name, card in deck.cards.items()} == {"masks": 4, "scale": 1}
    assert deck.cards["masks"].last == clock().date() - timedelta(days=1)


def test_a_date_that_somebody_imported_as_nonsense_is_no_date(store: Store, clock: Clock) -> None:
    store.remember(INTERVIEW, "soon", clock())

    assert interview_date(store) is None
    assert load_deck(store, clock()).interview is None
