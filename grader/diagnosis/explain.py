"""From recorded calls to names: which misconceptions, put into the solution, behave like the submission."""

from __future__ import annotations

from dataclasses import replace

from ..sandbox.errors import WorkerError
from ..sandbox.proxy import Call
from ..verdict import Named
from .agreement import ACCIDENTS, agree, differs, is_number_in_array, numbers_as_scalars, same_value, verdict_on
from .draws import same_law
from .leaning import Leaning
from .near import nearest
from .stage import Role, Stage, seconds

ONE_OF_CAP = 3
PATIENCE_S = 30.0  # by the submission's own time: what all wrong ideas may take on all calls, where the first difference fits none
MOSTLY = "This explains most of what is wrong here; the rest is a variant of it, or a second mistake. "
ONE_OF_TWO = "Two things are wrong here; this is one of them. "


def explain(
    stage: Stage, calls: tuple[Call, ...], functions: tuple[str, ...], failed: frozenset[str], passed: frozenset[str] = frozenset(),
    leans: Leaning = frozenset(),
) -> tuple[list[Named], frozenset[str]]:
    """Names for the wrong functions, upstream first, and the functions that are wrong only because an upstream one is.

    ``failed``: functions of checks that failed; ``passed``: checks that passed, whose results are right however they differ from the solution's.
    Quiet where nothing agrees with everything that was recorded.
    """
    named: list[Named] = []
    downstream: set[str] = set()
    cast: tuple[str, ...] = ()
    for function in functions:
        own = [call for call in calls if call.function == function and call.replayable]
        if function not in failed or not own:
            continue
        stage.numbers = any(call.check in passed and is_number_in_array(call.value) for call in own)
        own = [numbers_as_scalars(call) for call in own] if stage.numbers else own
        trials = first_difference(stage, cast, own, passed)
        if not trials:  # right, or just what an upstream mistake makes of it
            downstream |= {function} if cast else set()
            continue
        if cast and not first_difference(stage, (), own, passed):
            continue  # right by itself: it doesn't lean on what is wrong
        upstream = {each.function for each in named}
        if cast and (any((function, each) in leans for each in upstream) or falls_through(stage, own, [call for call in calls if call.function in upstream], passed)):
            downstream.add(function)
            continue
        roles = [role for role in stage.roles if role.of == function]
        if found := fitting(stage, cast, roles, trials, own, passed):
            named.append(name(found))
            cast = (*cast, found[0].id)
        elif likely := nearest(stage, cast, own, roles, passed):
            reserve = ONE_OF_TWO if len(likely) > 1 else "" if likely[0].exact else MOSTLY
            named += [replace(name([fit.role]), message=f"{reserve}{fit.role.advice}") for fit in likely]
            cast = (*cast, likely[0].role.id)
    return named, frozenset(downstream)


def fitting(stage: Stage, cast: tuple[str, ...], roles: list[Role], trials: list[list[Call]], own: list[Call], passed: frozenset[str]) -> list[Role]:
    """The roles that explain everything: by themselves, with what is wrong upstream, or where the values of missing refusals are let be."""
    patient = len(roles) * seconds(own) < PATIENCE_S
    for below in ((), cast) if cast else ((),):
        if found := agreeing(stage, below, roles, trials, own, patient):
            return found
    refused = refusals(stage, own)
    if all(verdict_on(own[place]) == "ValueError" for place in refused):
        return []
    cheap = [own[place] for place in sorted(refused)]
    first, *_ = first_difference(stage, cast, [call for place, call in enumerate(own) if place not in refused], passed) or [[]]
    near = [role for role in roles if role.at == "exact" and matches(stage, (*cast, role.id), cheap, refused=frozenset(range(len(cheap))))]
    near = [role for role in near if matches(stage, (*cast, role.id), first)]  # few are: all calls take long
    return [role for role in near if matches(stage, (*cast, role.id), own, refused=refused)]


def falls_through(stage: Stage, own: list[Call], upstream: list[Call], passed: frozenset[str]) -> bool:
    """Whether what is wrong in ``own`` only shows that a function is called which has been named: it raised at a line where that one raised, or nothing but accidents came of it."""
    lines = {(call.raised.type, call.raised.line) for call in upstream if call.raised is not None and call.raised.line}
    failed = [call for call in own if call.check not in passed]
    inside = [call for call in failed if call.raised is not None and (call.raised.type, call.raised.line) in lines]
    if inside and first_difference(stage, (), inside, passed):
        return True
    others = [call for call in failed if call.raised is None or call.raised.type not in ACCIDENTS]
    return len(others) < len(failed) and not first_difference(stage, (), others, passed)


def agreeing(stage: Stage, below: tuple[str, ...], roles: list[Role], trials: list[list[Call]], own: list[Call], patient: bool) -> list[Role]:
    """The roles that, with those ``below`` them, answer all of a function's calls as the submission did.

    Each trial is there to spare most roles the way through all calls; where none passes a trial, everything is asked if there is patience.
    """
    untried, hopeful = list(roles), False
    for trial in trials:
        near, remembering = [], []
        for role in untried:
            if role.at == "statistics" or matches(stage, (*below, role.id), trial):
                near.append(role)
            elif stage.remembers:
                remembering.append(role)
        if found := [role for role in near if matches(stage, (*below, role.id), own, role)]:
            return found
        hopeful |= bool(near)
        alone = len(trial) == 1 and trial[0].message.get("op") == "call"  # what was asked before it makes a difference to those alone that remember it
        untried = remembering if alone else [role for role in untried if role not in near]
    return [role for role in roles if matches(stage, (*below, role.id), own, role)] if patient and not hopeful else []


def first_difference(stage: Stage, cast: tuple[str, ...], calls: list[Call], passed: frozenset[str]) -> list[list[Call]]:
    """The first call that ``cast`` answers otherwise: alone, and with those before it in its check and the first of each earlier check; or nothing.

    Nearly every wrong idea parts from the submission on that one call. What was asked before it is for those that remember earlier calls.
    """
    try:
        for place, played in enumerate(stage.play(cast, calls)):
            if differs(calls[place], played, passed):
                here = [call for call in calls[: place + 1] if call.check == calls[place].check]
                before = {call.check: call for call in reversed(calls[:place]) if call.check != calls[place].check}
                cheap, dear = sorted((here, list(reversed(before.values()))), key=seconds)
                together = [*cheap, *dear]  # most stop at the cheap ones
                return [[calls[place]], together] if 2 * calls[place].seconds < seconds(together) else [together]
    except WorkerError:
        return [calls[:1]]
    return []


def refusals(stage: Stage, calls: list[Call]) -> frozenset[int]:
    """Places of the calls that the solution refuses. What comes of them where nobody refuses is chance: a value, or whatever torch raises."""
    try:
        return frozenset(place for place, played in enumerate(stage.play((), calls)) if verdict_on(played) == "ValueError")
    except WorkerError:
        return frozenset()


def matches(stage: Stage, cast: tuple[str, ...], calls: list[Call], role: Role | None = None, *, refused: frozenset[int] = frozenset()) -> bool:
    """Whether the solution with ``cast`` in it answers every call as the submission did; of ``refused`` calls only whether they are refused."""
    try:
        if role is not None and role.at == "statistics":
            return same_law(calls, stage.play(cast, calls), same_value)
        return all(
            verdict_on(call) == verdict_on(played) if place in refused else agree(call, played)
            for place, (call, played) in enumerate(zip(calls, stage.play(cast, calls), strict=True))
        )
    except WorkerError:
        return False


def name(found: list[Role]) -> Named:
    """The most specific of several that agree; ``one of`` where nothing tells them apart."""
    general = {role.extends for role in found}
    chosen = [role for role in found if role.id not in general] or found
    first = chosen[0]
    message, others = first.advice, tuple(role.id for role in chosen[1 : ONE_OF_CAP])
    if others:
        told = " Or: ".join(role.message for role in chosen[:ONE_OF_CAP])
        message = f"One of these, which nothing in your results tells apart: {told}"
    return Named(first.id, message, first.of, question=first.question, hint=first.hint or looking_at(first), one_of=others)


def looking_at(role: Role) -> str:
    """The hint that the advice itself ends with: what was said, and where to look."""
    where = " ".join(role.advice.partition("Look at:")[2].split())
    return f"You were told: {role.message}" + (f" Look at {where}" if where else "")
