"""What a failed check saw, as rows that say something each: no placeholder for a right value, no two numbers that look the same, nothing twice."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..verdict import CheckResult, Evidence, Reason, Verdict
from .text import ONE_LINE, shown_array

DETAILED = 2
SOURCES = {"np": "import numpy as np", "torch": "import torch", "math": "import math", "nn": "from torch import nn", "tl": "import triton.language as tl",
           "F": "import torch.nn.functional as F", "triton": "import triton", "numpy": "import numpy", "Tensor": "from torch import Tensor"}
MEANT = {
    "EOFError": "Nobody is at the keyboard of a check: take `input()` out.",
    "BdbQuit": "A debugger finds no keyboard in a check: take `breakpoint()` out, and run the file with Python to step through it.",
    "RecursionError": "The function calls itself, directly or through another, and never stops.",
}
TYPE_ALONE = re.compile(r"has (dtype|shape) |came back ")  # a note about no value
WHOLE, ROW = 36, 6  # so many numbers of a matrix are shown whole, so many of a row
PLAIN = re.compile(r"is \S+ where \S+ is right")  # a note that says what the two values say
ASKED = re.compile(r"(?<=raised a ValueError whose )message doesn't name `\w+`(?: or `\w+`)*|a ValueError was asked$")  # of an error: what was asked instead
OUTRIGHT = (Reason.RULE_BROKEN, Reason.TIMEOUT, Reason.MEMORY, Reason.CRASH)


def rows(check: CheckResult, width: int = 64) -> list[tuple[str, str]]:
    """``asked``, ``input``, ``came``, ``right``, ``where``, and a last row without a name that explains; empty ones left out."""
    seen = check.evidence
    if seen is None:
        return [("", check.message)]
    told = [("", seen.because), ("asked", seen.case), ("input", tidy(seen.arguments)), ("came", came(seen)), ("right", right(seen, width)), ("where", where(seen)),
            ("", explained(check, seen))]
    return [(name, value) for name, value in told if value]


def came(seen: Evidence) -> str:
    """What came back, or what was raised."""
    return seen.raised or (("" if _is_claim(seen.note) else seen.note) if seen.got is None else _piece(seen.got, seen, 60, None if TYPE_ALONE.match(seen.note) else seen.want))


def right(seen: Evidence, width: int) -> str:
    """The right value, where the value is what was wrong: a wrong type, shape or dtype is told without one."""
    return "" if TYPE_ALONE.match(seen.note) else _piece(seen.want, seen, width, seen.got)


def _piece(value: object, seen: Evidence, width: int, beside: object) -> str:
    """A value; of one that fills the screen, what stands around the wrong number."""
    if not (isinstance(value, np.ndarray) and seen.index and value.ndim == len(seen.index) and value.size > (WHOLE if value.ndim <= 2 else ONE_LINE)):
        return shown_array(value, width=width, beside=beside)
    *row, place = seen.index
    start = max(0, min(place - ROW // 2, value.shape[-1] - ROW))
    around: Any = (*row, slice(start, start + ROW))
    other = beside[around] if isinstance(beside, np.ndarray) and beside.shape == value.shape else None
    named = [*map(str, row), f"{start}:{start + ROW}"] if value.shape[-1] > ROW else [*map(str, row)]
    return f"[{', '.join(named)}]: {shown_array(value[around], width=width - 20, beside=other)}"


def where(seen: Evidence) -> str:
    """At which index, and how far; nothing where the rows above say it."""
    if seen.raised:
        asked = ASKED.search(seen.note)
        return re.sub("^message", "its message", asked[0]) if asked else ""
    if seen.got is None:
        return ""
    if seen.index:
        got, want = _at(seen)
        return f"[{', '.join(map(str, seen.index))}]: {got}, right is {want}" + ("" if PLAIN.fullmatch(seen.note) else f"; {seen.note}")
    return "" if seen.want is not None and PLAIN.fullmatch(seen.note) else seen.note


def _at(seen: Evidence) -> tuple[str, str]:
    """The two numbers at an index, with as many digits as it takes to tell them apart."""
    assert seen.index is not None
    if isinstance(seen.got, np.ndarray) and seen.got.ndim == len(seen.index) and seen.got_at == seen.want_at:
        got, want = seen.got[seen.index], np.asarray(seen.want)[seen.index]
        for digits in range(7, 18):
            if f"{got:.{digits}g}" != f"{want:.{digits}g}":
                return f"{got:.{digits}g}", f"{want:.{digits}g}"
    return seen.got_at, seen.want_at


def explained(check: CheckResult, seen: Evidence) -> str:
    """What the message says beyond the rows, or what an error means here."""
    if seen.raised:
        return _meaning(seen.raised) or _beyond(check.message, seen)
    if not seen.note or (seen.got is None and _is_claim(seen.note)):
        return check.message
    if seen.note.startswith("came back as None"):
        return "A function without `return` gives None."
    if check.message.endswith((f"{seen.note}.", f"{seen.note} ({seen.case}).")):  # nothing that the rows don't say
        return ""
    told = _beyond(check.message, seen) or check.message.rpartition(". ")[2]
    return "" if told.endswith("at 1 of 1 places.") else told


def _is_claim(note: str) -> bool:
    """Whether a note is a sentence about what was asked, and none about what came."""
    return note[:1].isupper()


def _beyond(message: str, seen: Evidence) -> str:
    for marker in (f"({seen.case}). " if seen.case else "", f"{seen.note}. " if seen.note else ""):
        if marker and marker in message:
            return message.partition(marker)[2]
    return ""


def _meaning(raised: str) -> str:
    kind = re.search(r" raised (\w+)", raised)
    lost = re.search(r"NameError.*name '(\w+)' is not defined", raised, re.DOTALL)
    if lost and lost[1] in SOURCES:
        return f"The top of the file lacks `{SOURCES[lost[1]]}`."
    return MEANT.get(kind[1], "") if kind else ""


def tidy(arguments: str) -> str:
    """A call's arguments without the columns that NumPy lines up: ``[ 1.0010e+003,  0.]`` is ``[1.001e+3, 0.]``."""
    text = re.sub(r"(-?\d)\.(\d*?)0*e([+-])0*(\d+)", lambda m: _number(*m.groups()), arguments)
    return re.sub(r" +(?=[,\]])", "", re.sub(r"(?<=\[) +", "", re.sub(r" {2,}", " ", text)))


def _number(whole: str, fraction: str, sign: str, power: str) -> str:
    mantissa = f"{whole}.{fraction}"
    return mantissa if power == "0" else f"{mantissa}e{sign if sign == '-' else ''}{power}"


# ------------------------------------------------------------ several


def parted(failed: Iterable[CheckResult]) -> tuple[list[CheckResult], list[CheckResult], list[CheckResult]]:
    """The failures to show whole, each with a reason of its own; those that fail for one of these reasons too; all others."""
    there = list(failed)
    crashes = {crash(check) for check in there if "ValueError was asked" not in check.message} - {""}
    whole: dict[str, CheckResult] = {}
    same, others = [], []
    for check in there:
        why = crash(check) if crash(check) in crashes else reason(check)
        if why in whole:
            same.append(check)
        elif len(whole) < DETAILED:
            whole[why] = check
        else:
            others.append(check)
    return list(whole.values()), same, others


def crash(check: CheckResult) -> str:
    """Which error at which line a check met, if any."""
    raised = re.match(r"\w+ raised \w+ \(line \d+\)", check.evidence.raised) if check.evidence is not None else None
    return raised[0] if raised else ""


def reason(check: CheckResult) -> str:
    """Why a check failed, where several can fail for one reason: a limit, a type that is wrong everywhere. Otherwise its own id."""
    seen = check.evidence
    if check.reason in OUTRIGHT:
        return check.message
    if seen is not None and re.match(r"came back |has dtype ", seen.note):
        return f"{seen.function} {seen.note}"
    return check.id


def broken_rules(verdict: Verdict) -> list[str]:
    """What is off limits and was used, a sentence each."""
    return list(dict.fromkeys(check.message for check in verdict.failed if check.reason is Reason.RULE_BROKEN))
