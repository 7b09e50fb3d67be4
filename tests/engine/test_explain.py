"""Which wrong ideas are asked what: a stage that counts, and wrong ideas that remember earlier calls."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from attngrade import diagnosis
from attngrade.catalog import builtin
from attngrade.diagnosis import telling
from attngrade.diagnosis.agreement import agree
from attngrade.diagnosis.explain import explain
from attngrade.diagnosis.stage import Role
from attngrade.diagnosis.symptoms import symptom
from attngrade.sandbox.proxy import Call
from attngrade.verdict import Evidence, Verdict, Word


def call(place: int, value: float, seconds: float = 0.01) -> Call:
    return Call(function="f", message={"op": "call", "args": (float(place),)}, check="a-check", value=value, seconds=seconds)


class Counted:
    """A stage whose roles answer with what a table says for each call, or with what a function makes of all calls since they were cast."""

    def __init__(self, roles):
        self.answers = {(): float, **{(name,): answer for name, answer in roles.items()}}
        self.roles = [Role(name, "f", f"message of {name}", "advice", None, None, None, "exact") for name in roles]
        self.numbers = False
        self.asked = Counter()

    def play(self, cast, calls):
        since = []
        for one in calls:
            self.asked[cast] += 1
            since.append(one.message["args"][0])
            answer = self.answers[cast]
            self.remembers = getattr(answer, "remembers", False)
            yield call(int(since[-1]), answer(since) if getattr(answer, "remembers", False) else answer(since[-1]))


def remembering(answer):
    return type("Remembering", (), {"remembers": True, "__call__": staticmethod(answer)})()


def explained(stage, values, **seconds):
    calls = tuple(call(place, value, **seconds) for place, value in enumerate(values))
    return [named.id for named in explain(stage, calls, ("f",), frozenset({"f"}))[0]]


def test_a_wrong_idea_that_parts_on_the_telling_call_is_asked_no_other():
    stage = Counted({"negated-from-seven": lambda x: -x if x >= 7 else x, **{f"off-from-seven-by-{n}": lambda x, n=n: x + n * (x >= 7) for n in range(1, 30)}})

    assert explained(stage, [*range(7), -7.0, -8.0, -9.0]) == ["negated-from-seven"]
    assert {count for cast, count in stage.asked.items() if "off" in "".join(cast)} == {1}


def test_a_wrong_idea_that_remembers_earlier_calls_is_named_though_it_answers_the_telling_call_rightly_alone():
    stage = Counted({"sums-up": remembering(sum), "doubles": lambda x: 2 * x})

    assert explained(stage, [0.0, 1.0, 3.0, 6.0, 10.0]) == ["sums-up"]


def test_a_wrong_idea_that_answers_the_telling_call_otherwise_and_remembers_nothing_is_asked_no_other():
    stage = Counted({"sums-up": remembering(sum), **{f"adds-{n}": lambda x, n=n: x + n * (x == 2) for n in range(2, 9)}})

    assert explained(stage, [0.0, 1.0, 3.0, 6.0, 10.0]) == ["sums-up"]
    assert {stage.asked[(f"adds-{n}",)] for n in range(2, 9)} == {1}


def test_a_dear_telling_call_comes_after_the_cheap_ones():
    stage = Counted({"late": lambda x: x + (x == 3), **{f"early-{n}": lambda x, n=n: x + n for n in range(1, 9)}})
    calls = tuple(call(place, value, 1.0 if place == 3 else 0.01) for place, value in enumerate([0.0, 1.0, 2.0, 4.0]))

    assert [named.id for named in explain(stage, calls, ("f",), frozenset({"f"}))[0]] == ["late"]
    assert {stage.asked[(f"early-{n}",)] for n in range(1, 9)} == {1}, "told apart by the first call, which is cheap"


def test_memory_is_evidence_only_where_a_check_found_it_too_much():
    small, large = replace(call(0, 1.0), weighed=True), replace(call(0, 1.0), weighed=True, peak_bytes=1 << 30)
    verdict = SimpleNamespace(checks=(), calls=(large,))

    assert not agree(large, small)
    assert agree(telling(verdict, frozenset({"a-check"}))[0], small)
    assert not agree(telling(verdict, frozenset())[0], small)


def test_numbers_that_fit_nowhere_are_compared_in_silence(monkeypatch):
    monkeypatch.setattr(diagnosis, "Stage", lambda *_: None)
    monkeypatch.setattr(diagnosis, "explain", lambda *_: ([], frozenset(str(np.array([1e300]).astype(np.float32) - np.inf))))
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        assert diagnosis.diagnosed(builtin().find("1"), Verdict("exercise01", "", Word.FAILED), None).misconceptions == ()


@pytest.mark.parametrize(("got", "want", "told"), [
    ([[9.0, 9], [1, 2], [3, 4]], [[1.0, 1], [1, 2], [3, 4]], "Only row 0 of 3 is wrong, counted from 0."),
    ([[9.0, 9], [1, 2], [9, 9]], [[1.0, 1], [1, 2], [3, 4]], "Only rows 0, 2 of 3 are wrong, counted from 0."),
    ([[False]], [[True]], ""),  # of one entry anything wrong is the opposite
    ([[False, True]], [[True, False]], "Every entry is the opposite of what is right: True means may attend."),
])
def test_a_sentence_from_the_arrays_alone_says_what_they_show(got, want, told):
    assert symptom(Evidence(got=np.array(got), want=np.array(want), index=(0, 0), error=1.0)) == told
