"""What progress counts."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from attngrade.cli.reckoning import mistakes, spoken, streak, time_to_pass
from attngrade.store import Attempt, Entry

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
TODAY = date(2026, 3, 10)


def attempt(minutes: float, verdict: str, *named: str, exercise: str = "exercise03") -> Entry:
    return Entry(f"{minutes}", START + timedelta(minutes=minutes), Attempt(exercise, verdict, 1, 1, named))


@pytest.mark.parametrize(
    ("ago", "expected"),
    [([], (0, 0)), ([0], (1, 1)), ([1], (1, 1)), ([2], (0, 1)), ([0, 1, 2], (3, 3)), ([1, 2, 2], (2, 2)), ([0, 2, 3, 4], (1, 3)), ([5, 6, 7], (0, 3))],
)
def test_a_streak_ends_today_or_yesterday(ago, expected):
    assert streak([TODAY - timedelta(days=n) for n in ago], TODAY) == expected


def test_time_to_pass_runs_from_the_first_look_to_the_first_pass():
    attempts = [attempt(5, "failed"), attempt(12, "passed"), attempt(400, "failed"), attempt(500, "passed")]

    assert time_to_pass(attempts, [START]) == 12 * 60


def test_a_night_between_two_looks_counts_as_half_an_hour():
    attempts = [attempt(0, "failed"), attempt(10, "failed"), attempt(900, "provisional")]

    assert time_to_pass(attempts, []) == 40 * 60


def test_before_a_pass_there_is_no_time_to_pass():
    assert time_to_pass([attempt(0, "failed")], [START]) is None


def test_a_misconception_is_overcome_once_its_exercise_passes():
    rows = mistakes([attempt(0, "failed", "a", "b"), attempt(1, "failed", "a"), attempt(2, "passed")])

    assert rows == [{"id": "a", "exercise": "exercise03", "times": 2, "overcome": True}, {"id": "b", "exercise": "exercise03", "times": 1, "overcome": True}]


def test_one_that_comes_back_is_not_overcome():
    rows = mistakes([attempt(0, "failed", "a"), attempt(1, "passed"), attempt(2, "failed", "a")])

    assert not rows[0]["overcome"]


def test_a_pass_of_another_exercise_overcomes_nothing():
    rows = mistakes([attempt(0, "failed", "a"), attempt(1, "passed", exercise="exercise04")])

    assert not rows[0]["overcome"]


@pytest.mark.parametrize(("seconds", "said"), [(10, "under a minute"), (61, "1 min"), (3540, "59 min"), (3600, "1 h 00 min"), (7500, "2 h 05 min")])
def test_durations_are_said_as_people_say_them(seconds, said):
    assert spoken(seconds) == said
