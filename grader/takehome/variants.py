"""Which variant of an exercise a candidate was asked, whether a file answers another one, and who was asked that one. It informs; it changes no score."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from ..catalog import Exercise, Pack
from ..grading.variants import Variant, conventions, others
from ..verdict import Outcome, Reason, Verdict, Word
from .plan import TakeHome, read_secret

SHOWN = 5
Grade = Callable[[Variant], Verdict]


def variant(plan: TakeHome, candidate: str, exercise: Exercise) -> Variant:
    """A candidate's variant: the same at every grading, unknown without the team's secret."""
    if not plan.variants:
        return Variant(exercise)
    key = read_secret(plan.folder)
    flips = (c.id for c in conventions(exercise) if hmac.new(key, f"variant\0{candidate}\0{exercise.id}\0{c.id}".encode(), hashlib.sha256).digest()[0] & 1)
    return Variant(exercise, frozenset(flips))


def how_many(plan: TakeHome, pack: Pack) -> int:
    """Variants that candidates may get, over all exercises."""
    return 2 ** sum(len(conventions(pack.find(asked.id))) for asked in plan.exercises)


def answered(own: Variant, verdict: Verdict, grade: Grade) -> Variant | None:
    """The other variant that a failed file answers: all that holds in its own holds there, and more does; the best of several.

    A file that met a limit isn't asked again: it would meet it in every variant.
    """
    reasons = {check.reason for check in verdict.checks if check.outcome is Outcome.FAILED}
    if Reason.WRONG_RESULT not in reasons or reasons & {Reason.TIMEOUT, Reason.MEMORY, Reason.CRASH}:
        return None
    best, most, before = None, verdict.score, passed(verdict)
    for other in others(own):
        tried = grade(other)
        if tried.score > most and before < passed(tried):
            best, most = other, tried.score
        if best is other and tried.word in (Word.PASSED, Word.PROVISIONAL):
            break
    return best


def passed(verdict: Verdict) -> set[str]:
    """The checks that passed."""
    return {check.id for check in verdict.checks if check.outcome is Outcome.PASSED}


def told_in_the_usual(own: Variant, verdict: Verdict, other: Variant | None) -> Verdict:
    """The verdict without mistakes that are none in the variant that the file answers; the rest says in which convention it is told."""
    different = {function for c in conventions(own.asked) if other is not None and c.id in other.flips ^ own.flips for function in c.functions}
    exchanged = {function for c in own.flipped for function in c.functions}
    named = [item for item in verdict.misconceptions if item.function not in different]
    return replace(verdict, misconceptions=tuple(
        replace(item, message=f"(Told in the usual convention.) {item.message}") if item.function in exchanged else item for item in named
    ))


def record(own: Variant, other: Variant | None) -> dict[str, Any]:
    """What a record keeps of a candidate's variant."""
    answers = {"flips": sorted(other.flips), "told": other.told} if other is not None else None
    return {"flips": sorted(own.flips), "told": own.told, "shown": own.exchanged, "answers": answers}


def sentence(part: dict[str, Any]) -> str:
    """That a file answers another variant, for people; empty where it doesn't."""
    asked = part.get("variant")
    if not asked or not asked["answers"]:
        return ""
    return f"{part['exercise']} answers another variant ({asked['answers']['told']}) than the one that was asked ({asked['told']})."


def with_kin(records: list[dict[str, Any]], plan: TakeHome, pack: Pack, listed: Iterable[str]) -> list[dict[str, Any]]:
    """The records with, beside each remark that a file answers another variant, whose kits ask that one."""
    known = tuple(listed) or tuple(told["candidate"] for told in records)
    return [_with_kin(told, plan, pack, known) for told in records] if plan.variants else records


def _with_kin(told: dict[str, Any], plan: TakeHome, pack: Pack, known: tuple[str, ...]) -> dict[str, Any]:
    whole = {sentence(part): f"{sentence(part)} {_kin(plan, part, told.get('kit', ''), known, pack.find(part['exercise']))}" for part in told["exercises"] if sentence(part)}
    parts = [{**part, "answers_another": whole[sentence(part)]} if sentence(part) else part for part in told["exercises"]]
    return {**told, "exercises": parts, "remarks": [whole.get(remark, remark) for remark in told["remarks"]]}


def _kin(plan: TakeHome, part: dict[str, Any], candidate: str, known: tuple[str, ...], exercise: Exercise) -> str:
    flips = frozenset(part["variant"]["answers"]["flips"])
    names = [name for name in known if name != candidate and variant(plan, name, exercise).flips == flips]
    if not names:
        return "No other candidate's kit asks that one."
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"Kits that ask that one: {', '.join(names[:SHOWN])}{more}."
