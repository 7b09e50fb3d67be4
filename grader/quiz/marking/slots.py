"""Slots: is this expression, or this number, the one that was asked for? Compared at seeded random points."""

from __future__ import annotations

import math
import random
import re
import zlib
from collections.abc import Callable, Mapping

from ..question import Slot
from .expression import Column, Matrix, Row, Unreadable, Value, parse

Expression = Callable[[Mapping[str, Value]], Value]
POINTS = 7
KINDS = ("size", "scalar", "positive", "probability", "bit", "simplex", "vector", "matrix")
_LEAD = re.compile(
    r"^\s*(?:(?:(?:it(?:'s| is)|about|roughly|approximately|approx\.?|exactly|ca\.?|answer|the answer is|by|(?:an?\s+)?factor(?:\s+of)?|an?(?=\s+(?:half|quarter)\b))(?![\w(])\s*:?|[~≈=])\s*)+", re.IGNORECASE
)
_TIMES = re.compile(r"(?<=\w)\s*(?:x|×|times|-?\s?fold)(?:\s+(?:smaller|less|fewer|lower))?$", re.IGNORECASE)
_UP_TO_TWELVE = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_NUMBERS = {word: str(number) for number, word in enumerate(_UP_TO_TWELVE)} | {"half": "(1/2)", "quarter": "(1/4)"}


def judge_slot(slot: Slot, text: str) -> tuple[bool, str]:
    """Whether the text is right, and a note where it is a known wrong answer; raises Unreadable."""
    given = _read(slot, text)
    if any(_same(slot, given, parse(each, slot.names)) for each in slot.answer.split(" | ")):
        return True, ""
    for wrong in slot.wrong:
        if _same(slot, given, parse(wrong.pattern, slot.names)):
            return False, wrong.note
    if _lacks_unit(slot, text):
        raise Unreadable(f"In which unit? Write it behind the number: {', '.join(slot.names)}.")
    return False, ""


def _lacks_unit(slot: Slot, text: str) -> bool:
    """Whether the slot's names are units and the text has none of them."""
    return bool(slot.names) and not any(kind in KINDS for kind in slot.names.values()) and not re.search(r"[A-Za-z]", _LEAD.sub("", text))


def split_slots(slots: tuple[Slot, ...], answer: str) -> dict[str, str]:
    """The text of each slot: `name = ...` lines, or the lines in order; raises Unreadable."""
    lines = [line.strip() for line in answer.splitlines() if line.strip()]
    if len(slots) == 1:
        return {slots[0].id: " ".join(lines)}
    named = {}
    for line in lines:
        head, sign, rest = re.match(r"([^=:]{0,60})([=:]?)(.*)", line, re.DOTALL).groups()  # type: ignore[union-attr]
        slot = next((s for s in slots if sign and _plain(head) in (_plain(s.id), _plain(s.label))), None)
        if slot:
            named[slot.id] = rest
    if len(named) == len(slots):
        return named
    if not named and len(lines) == len(slots):
        return {slot.id: line for slot, line in zip(slots, lines, strict=True)}
    missing = ", ".join(slot.id for slot in slots if slot.id not in named)
    raise Unreadable(f"Give each of {', '.join(s.id for s in slots)} on a line of its own, as `{slots[0].id} = ...`; missing: {missing}.")


def _plainly(text: str) -> str:
    """A bare number as it is said, `4x` or `fourfold`, as it is written."""
    text = _TIMES.sub("", re.sub(r"^(?:x|×)\s*(?=\d)", "", text, flags=re.IGNORECASE))
    return re.sub(r"[A-Za-z]+", lambda word: _NUMBERS.get(word.group().lower(), word.group()), text)


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())


def _read(slot: Slot, text: str) -> Expression:
    text = _LEAD.sub("", text.strip()).rstrip(" .;,!")
    text = text if slot.names else _plainly(text)
    if not text:
        raise Unreadable(f"{slot.label}: nothing was given; type an expression.")
    sides = re.split(r"(?<![<>!=])=(?!=)", text)
    problem: Unreadable | None = None
    for side in reversed(sides):  # `Var(q.k) = d_k`: the right-hand side counts
        try:
            return parse(side, slot.names)
        except Unreadable as error:
            problem = problem or error
    raise problem or Unreadable(f"{slot.label}: {text!r} can't be read.")


def _same(slot: Slot, one: Expression, two: Expression) -> bool:
    chance = random.Random(zlib.crc32(slot.id.encode()))
    compared = 0
    for _ in range(POINTS):
        values = {name: _draw(kind, chance) for name, kind in slot.names.items()}
        a, b = one(values), two(values)
        if not _close(a, b, slot.tolerance):
            return False
        compared += 1
    return compared == POINTS


def _draw(kind: str, chance: random.Random) -> Value:
    if kind == "size":
        return float(chance.randint(2, 300))
    if kind == "positive":
        return chance.uniform(0.3, 3.0)
    if kind == "scalar":
        return chance.uniform(-2.0, 2.0)
    if kind == "probability":
        return chance.uniform(0.02, 0.98)
    if kind == "bit":
        return float(chance.randint(0, 1))
    if kind == "simplex":
        weights = [chance.uniform(0.1, 2.0) for _ in range(4)]
        return Column(tuple(w / sum(weights) for w in weights))
    if kind == "vector":
        return Column(tuple(chance.uniform(-2.0, 2.0) for _ in range(4)))
    if kind == "matrix":
        return Matrix(tuple(tuple(chance.uniform(-2.0, 2.0) for _ in range(4)) for _ in range(4)))
    return float(kind)  # a constant: a unit such as GiB


def _close(one: Value, two: Value, tolerance: float) -> bool:
    if type(one) is not type(two):
        return False
    a, b = _numbers(one), _numbers(two)
    if len(a) != len(b) or not all(map(math.isfinite, a + b)):
        return False
    size = max((abs(x) for x in b), default=0.0)
    return all(abs(x - y) <= tolerance * max(size, 1e-12) for x, y in zip(a, b, strict=True))


def _numbers(value: Value) -> list[float]:
    if isinstance(value, Column | Row):
        return list(value.items)
    if isinstance(value, Matrix):
        return [x for row in value.rows for x in row]
    return [value]


def check_names(names: Mapping[str, str]) -> list[str]:
    """What is wrong with a slot's names."""
    return [f"{name}: {kind!r} is neither a kind ({', '.join(KINDS)}) nor a number" for name, kind in names.items() if not _known(kind)]


def _known(kind: str) -> bool:
    try:
        return kind in KINDS or math.isfinite(float(kind))
    except ValueError:
        return False
