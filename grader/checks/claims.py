"""What the authors of checks write with: points, dependencies, and claims that fail with a sentence and evidence.

The contract is in grader/README.md, "How to write a check". Tolerances are those of the exercises' contract: relative error in the
maximum norm against a float64 oracle.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from ..sandbox import wire
from ..sandbox.errors import NoGradient, Raised
from ..sandbox.proxy import Call, Result, device_arg, generator, tensor
from ..verdict import Evidence

__all__ = ["Claim", "NoGradient", "Raised", "Result", "after", "all_but_one", "claim", "device_arg", "disown", "expect", "expect_number", "expect_same", "flipped", "generator", "gpu_only",
           "number", "of", "points", "refuses", "stretch", "tensor"]

MISFIT_CAP = 20_000  # numbers of a result in a shape that wasn't asked: with more of them its check is over
EVIDENCE_CAP = 4 << 20  # bytes of a wrong result that are kept: what is larger is told by its first wrong number alone
TOLERANCE = {"float64": 1e-9, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2, "complex128": 1e-9, "complex64": 2e-5}
EXACT = ("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64")
F = TypeVar("F", bound=Callable[..., Any])


flips: frozenset[str] = frozenset()  # set while the checks of a variant run
collected: list[Claim] | None = None  # while a check is graded, claims that fail are kept here and the check goes on


@dataclass
class Heard:
    """Of which functions a value was compared in this run, and of which one was right: properties alone earn nothing (nothing has many properties)."""

    last: Callable[[], str]
    tried: set[str] = field(default_factory=set)
    proven: set[str] = field(default_factory=set)
    refusals: set[str] = field(default_factory=set)  # checks in which a refusal was claimed
    disowned: dict[str, str] = field(default_factory=dict)  # functions whose right values are no work of theirs, and what they would have to do
    recent: Callable[[], Call | None] = lambda: None  # the last call so far


heard: Heard | None = None  # set while a check is graded


class Claim(AssertionError):
    """A claim that doesn't hold, with its evidence."""

    def __init__(self, message: str, evidence: Evidence | None = None, call: Call | None = None):
        super().__init__(message)
        self.evidence = evidence
        self.call = call
        self.recent = heard.recent() if heard is not None else None  # what was asked just before, for claims about plain numbers


def _fail(found: Claim) -> None:
    """Raise, or keep the claim while a check is graded: the calls that follow tell the diagnosis more."""
    if collected is None:
        raise found
    collected.append(found)


def flipped(convention: str) -> bool:
    """Whether the other one of two conventions is asked in this run: for oracles of a convention that no exchange of arrays can undo."""
    return convention in flips


def _mark(name: str, value: Any) -> Callable[[F], F]:
    def put(check: F) -> F:
        setattr(check, "attngrade_" + name, value)
        return check

    return put


def points(value: float) -> Callable[[F], F]:
    """The points of a required check."""
    return _mark("points", float(value))


def stretch(value: float) -> Callable[[F], F]:
    """The points of a stretch check: shown and scored, never needed."""

    def put(check: F) -> F:
        return _mark("stretch", True)(_mark("points", float(value))(check))

    return put


def of(*functions: str) -> Callable[[F], F]:
    """The functions that a check is about."""
    return _mark("functions", functions)


def after(*checks: str) -> Callable[[F], F]:
    """Ids of checks whose failure explains a failure of this one."""
    return _mark("after", checks)


def gpu_only(check: F) -> F:
    """A check that can only run on a CUDA device."""
    return _mark("gpu_only", True)(check)


# ---------------------------------------------------------------- claims


def weighed(comparison: F) -> F:
    """A comparison of values that notes of which function it was, and whether it was right.

    Constants say too little to count, and so does a case that is right by accident (``proves=False``): one key has all the weight, whatever its score is.
    """

    @functools.wraps(comparison)
    def noted(got: Any, want: Any, *, proves: bool = True, **told: Any) -> None:
        before = None if collected is None else len(collected)
        right = False
        try:
            comparison(got, want, **told)
            right = collected is None or len(collected) == before
        finally:
            if heard is not None and proves and telling(np.asarray(want)):
                call = _call_of(got)
                (heard.proven if right else heard.tried).add(call.function if call else heard.last())

    return noted  # type: ignore[return-value]


def telling(want: np.ndarray) -> bool:
    """Whether a right value is one that nobody gives by accident: more than one value, or a number that is neither 0, 1 nor infinite."""
    if want.size == 1:
        return bool(np.isfinite(want).all()) and float(np.abs(want).reshape(())) not in (0.0, 1.0)
    return bool(want.size) and bool((want != want.flat[0]).any())


@weighed
def expect(got: Any, want: Any, *, dtype: str | None = None, tol: float | None = None, atol: float = 0.0, scale: float | None = None,
           case: str = "", because: str | None = None) -> None:
    """``got`` is an array with the shape, dtype and values of ``want``: ``max|got - want| <= tol * (scale or max|want|) + atol``.

    Raises Claim otherwise, with where and how far. Non-finite entries of ``want`` must be there exactly.
    """
    want = np.asarray(want)
    if not isinstance(got, Result) or got.kind == "scalar":
        _fail(_failed(f"came back as {name_of(got)} where an array was asked", got, want, case, because))
    elif got.shape != want.shape:
        misfit = _failed(f"has shape {_shape(got.shape)} where {_shape(want.shape)} was asked", got, want, case, because)
        if got.array.size > MISFIT_CAP:  # a check that went on would work with it
            raise misfit
        _fail(misfit)
    elif dtype is not None and got.dtype != dtype:
        _fail(_failed(f"has dtype {got.dtype} where {dtype} was asked", got, want, case, because))
    elif dtype is None and (given := rounded_down(got)) is not None:
        _fail(_failed(f"has dtype {got.dtype} where {given}, as its arguments have, was asked", got, want, case, because))
    else:
        compare(got, got.array, want, got.dtype, tol, atol, scale, case, because)


def rounded_down(got: Result) -> str | None:
    """The dtype of a call's arguments, where its result is in half precision and none of them is: nobody's right result is, and its own tolerance would forgive it. Else None."""
    given = [item.dtype for item in wire.arrays((got.call.message.get("args", ()), got.call.message.get("kwargs", {})))] if got.call is not None else []
    widths = {name: wire.ITEM[name] for name in given if name.startswith(("float", "bfloat"))}
    return min(widths, key=widths.__getitem__) if got.dtype in ("float16", "bfloat16") and widths and min(widths.values()) > wire.ITEM[got.dtype] else None


def compare(got: Any, values: np.ndarray, want: np.ndarray, dtype: str, tol: float | None = None, atol: float = 0.0, scale: float | None = None,
            case: str = "", because: str | None = None) -> None:
    """The comparison of values alone (same shape already). Raises Claim."""
    if dtype in EXACT and want.dtype.kind in "biu":
        wrong = values != want
        if wrong.any():
            _fail(_failed(f"differs from what is right at {int(wrong.sum())} of {wrong.size} places", got, want, case, because, index=_first(wrong)))
        return
    exact = want.astype(np.complex128 if want.dtype.kind == "c" else np.float64)
    seen = values.astype(exact.dtype)
    finite = np.isfinite(exact)
    strange = np.where(finite, ~np.isfinite(seen), ~((seen == exact) | (np.isnan(exact) & np.isnan(seen))))
    if strange.any():
        index = _first(strange)
        word = "nan" if np.isnan(seen[index]) else f"{seen[index]:g}"
        return _fail(_failed(f"is {word} where {_show(exact[index])} is right", got, want, case, because, index=index))
    if not finite.any():
        return None
    error = np.where(finite, np.abs(np.where(finite, seen, 0) - np.where(finite, exact, 0)), 0.0)
    reach = scale if scale is not None else float(np.max(np.abs(exact[finite])))
    allowed = (TOLERANCE.get(dtype, 0.0) if tol is None else tol) * reach + atol
    worst = float(error.max())
    if not worst <= allowed:
        where = tuple(int(i) for i in np.unravel_index(int(error.argmax()), error.shape))
        _fail(_failed(f"is off by {worst:.3g} (allowed: {allowed:.2g})", got, want, case, because, index=where, error=worst, tolerance=allowed))
    return None


def number(value: Any, *, allow_0d: bool = False) -> float:
    """The float in a Python or NumPy scalar. Raises Claim for anything else."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, Result) and (value.kind == "scalar" or allow_0d) and value.shape == () and value.array.dtype.kind in "iuf":
        return float(value.array)
    raise _failed(f"came back as {name_of(value)} where a number was asked", value, None, "", None)


@weighed
def expect_number(got: Any, want: float, *, rel: float = 1e-9, atol: float = 0.0, case: str = "", because: str | None = None, allow_0d: bool = False) -> None:
    """``got`` is a Python or NumPy scalar within ``rel * |want| + atol`` of ``want``. Raises Claim."""
    try:
        value = number(got, allow_0d=allow_0d)
    except Claim:
        return _fail(_failed(f"came back as {name_of(got)} where a number was asked", got, want, case, because))
    if math.isnan(want) or math.isinf(want):
        right = value == want or (math.isnan(value) and math.isnan(want))
    else:
        right = abs(value - want) <= rel * abs(want) + atol
    if not right:
        _fail(_failed(f"is {value:.12g} where {want:.12g} is right", got, want, case, because, error=abs(value - want), tolerance=rel * abs(want) + atol))
    return None


def expect_same(got: Any, other: Any, *, case: str = "", because: str | None = None) -> None:
    """``got`` is bit for bit the array ``other``. Raises Claim."""
    want = other.array if isinstance(other, Result) else np.asarray(other)
    if not isinstance(got, Result) or got.shape != want.shape:
        return _fail(_failed(f"came back as {name_of(got)} where an array of shape {_shape(want.shape)} was asked", got, want, case, because))
    same = (got.array == want) | ((got.array != got.array) & (want != want))
    if not same.all():
        _fail(_failed(f"differs at {int((~same).sum())} of {same.size} places", got, want, case, because, index=_first(~same)))
    return None


def claim(condition: Any, message: str, *, got: Any = None, want: Any = None, case: str = "", because: str | None = None) -> None:
    """A property: raises Claim with ``message`` unless ``condition`` is true (nan comparisons are not)."""
    if not bool(condition):
        _fail(_failed(message, got, want, case, because))


def all_but_one(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Other values that look the same at a glance (``_before``): one number inside, neither the first nor the last, is larger by 1."""
    other = np.array(values)
    other.flat[int(rng.integers(1, other.size - 1))] += 1
    return other


def disown(function: str, asked: str) -> None:
    """Nothing that a function gets right counts: it was shown not to do itself what it is asked to do (``asked``, in words that follow the function's name)."""
    if heard is not None:
        heard.disowned[function] = asked


def refuses(call: Callable[[], Any], names: tuple[str, ...] = (), *, case: str = "", or_empty: bool = False, because: str | None = None) -> None:
    """``call`` raises ValueError in the submission, and its message has one of ``names`` in it as a word."""
    try:
        got = call()
    except Raised as raised:
        if raised.unwritten:
            raise
        if "ValueError" not in raised.bases:
            return _fail(_failed(f"raised {raised.type} where a ValueError was asked", None, None, case, because, raised=str(raised)))
        if names and not any(re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", raised.said) for name in names):
            wanted = " or ".join(f"`{name}`" for name in names)
            _fail(_failed(f"raised a ValueError whose message doesn't name {wanted}: {raised.said[:120]!r}", None, None, case, because, raised=str(raised)))
        if heard is not None and (asked := heard.recent()) is not None:
            heard.refusals.add(asked.check)
        return None
    if or_empty and isinstance(got, Result) and got.array.size == 0:
        return None
    return _fail(_failed(f"came back with {name_of(got)} where a ValueError was asked", got, None, case, because))


# ---------------------------------------------------------------- evidence


def _failed(note: str, got: Any, want: Any, case: str, because: str | None, **found: Any) -> Claim:
    call = _call_of(got)
    index = found.get("index")
    evidence = Evidence(
        function=call.function if call else "", case=case, arguments=arguments(call) if call else "", note=note, because=because or "",
        got=(got.array if got.array.nbytes <= EVIDENCE_CAP else None) if isinstance(got, Result) else got, want=want, index=index, error=found.get("error"), tolerance=found.get("tolerance"),
        got_at=_show(got.array[index]) if index is not None and isinstance(got, Result) else "", raised=found.get("raised", ""),
        want_at=_show(np.asarray(want)[index]) if index is not None and want is not None else "", dtype=got.dtype if isinstance(got, Result) else "",
    )
    what = f"{call.function}: the result" if call else "The result"
    told = note if re.match(r"[A-Z]|\w+: ", note) else f"{what} {note}"  # a sentence of its own, or one that names its function
    return Claim(". ".join(part.rstrip(".") for part in (because, f"{told}{f' ({case})' if case else ''}") if part) + ".", evidence, call)


def _call_of(got: Any) -> Call | None:
    if isinstance(got, tuple):
        return next((item.call for item in got if isinstance(item, Result)), None)
    return got.call if isinstance(got, Result) else None


def _first(wrong: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(wrong)[0])


def _shape(shape: tuple[int, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def _show(value: Any) -> str:
    return str(bool(value)) if np.asarray(value).dtype == bool else f"{value:.6g}"


def name_of(value: Any) -> str:
    """What a result is, in a few words."""
    if isinstance(value, Result):
        return f"{'an' if value.kind == 'ndarray' else 'a'} {value.kind if value.kind != 'scalar' else 'scalar'} of {value.dtype}, shape {_shape(value.shape)}"
    if isinstance(value, wire.Opaque):
        return f"a {value.type}"
    return "None" if value is None else f"a {type(value).__name__}"


def arguments(call: Call) -> str:
    """The arguments of a recorded call in one line: small arrays whole, others by shape."""
    parts = [_argument(value) for value in call.message.get("args", ())]
    parts += [f"{name}={_argument(value)}" for name, value in call.message.get("kwargs", {}).items()]
    return f"{call.function}({', '.join(parts)})"


def _argument(value: Any) -> str:
    if isinstance(value, wire.Array):
        data = wire.widen(value.data) if value.dtype == "bfloat16" else value.data
        if data.size <= 12 and data.ndim <= 2:
            return np.array2string(data, precision=4, separator=", ", threshold=20, suppress_small=False).replace("\n", "")
        return f"<{value.dtype} {_shape(data.shape)}>"
    if isinstance(value, (tuple, list)):
        inner = ", ".join(_argument(item) for item in value)
        return f"({inner})" if isinstance(value, tuple) else f"[{inner}]"
    if isinstance(value, wire.Generator):
        return f"Generator(seed={value.seed})"
    return repr(value.name if isinstance(value, wire.Device) else value)
