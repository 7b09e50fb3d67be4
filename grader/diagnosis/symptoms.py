"""Sentences that hold whatever the code is: what a wrong array looks like beside the right one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from ..verdict import Evidence

TOL = 1e-4
CAP = 1 << 20


def symptom(evidence: Evidence) -> str:
    """One sentence that points at the mistake, or an empty string. Only what the two arrays prove is said."""
    if evidence.got is None or evidence.want is None:
        return ""
    try:
        got, want = np.asarray(evidence.got), np.asarray(evidence.want)
    except ValueError:
        return ""
    if got.dtype.kind not in "biufc" or want.dtype.kind not in "biufc" or not got.size or max(got.size, want.size) > CAP:
        return ""
    if got.shape != want.shape:
        return shapes(got, want)
    if evidence.error is None and evidence.index is None:
        return ""  # the dtype or the kind is wrong: the values say nothing of it
    if want.dtype != bool and near(got, want):
        return digits(got, want)  # nearly equal arrays look permuted, transposed and everything else
    tests: tuple[Callable[[np.ndarray, np.ndarray], str], ...] = (masks,) if want.dtype == bool else (strange, factor, places, rows, digits)
    return next((told for test in tests if (told := test(got, want))), "")


def near(one: np.ndarray, other: np.ndarray, tol: float = TOL) -> bool:
    """Equal up to a loose relative error, with the same non-finite entries."""
    if one.shape != other.shape:
        return False
    size = float(np.max(np.abs(np.where(np.isfinite(other), other, 0)), initial=0.0))
    return bool(np.allclose(one, other, rtol=0, atol=tol * size, equal_nan=True)) and size > 0


def shapes(got: np.ndarray, want: np.ndarray) -> str:
    """What a wrong shape may come from."""
    if got.size == want.size and got.ndim == want.ndim and sorted(got.shape) == sorted(want.shape):
        return "The axes stand in another order than was asked."
    if got.ndim == want.ndim - 1:
        return "One axis is missing."
    if got.ndim == want.ndim and sum(a != b for a, b in zip(got.shape, want.shape, strict=True)) == 1:
        axis = next(i for i, (a, b) in enumerate(zip(got.shape, want.shape, strict=True)) if a != b)
        return f"Axis {axis} has length {got.shape[axis]} where {want.shape[axis]} was asked."
    return ""


def masks(got: np.ndarray, want: np.ndarray) -> str:
    """Inverted, shifted, transposed masks."""
    got = got.astype(bool)
    if want.size < 2:
        return ""  # one entry is opposite for any reason
    if np.array_equal(got, ~want):
        return "Every entry is the opposite of what is right: True means may attend."
    if want.ndim >= 2:
        own = _place(want) if want.ndim == 2 else None
        for shift in range(1, max(want.shape[-2:])):
            for sign in (shift, -shift):
                if own is not None and np.array_equal(got, _shifted(want, own + sign)):
                    return f"The diagonal lies {shift} key{'s' if shift > 1 else ''} too far to the {'right' if sign > 0 else 'left'}."
        if got.shape[-1] == got.shape[-2] and np.array_equal(got, np.swapaxes(want, -1, -2)):
            return "The mask is transposed: rows are queries, columns are keys."
    if got.all():
        return "Nothing is hidden at all."
    return "Everything is hidden." if not got.any() else ""


def _place(mask: np.ndarray) -> int | None:
    """How far to the right of the last query on the last key the diagonal of a mask lies; None where there is none."""
    return next((by for by in sorted(range(-sum(mask.shape), sum(mask.shape)), key=abs) if np.array_equal(mask, _shifted(mask, by))), None)


def _shifted(mask: np.ndarray, by: int) -> np.ndarray:
    rows, columns = np.indices(mask.shape)
    edge = mask.shape[1] - mask.shape[0]
    return columns <= rows + edge + by


def strange(got: np.ndarray, want: np.ndarray) -> str:
    """NaN and infinity where numbers are right."""
    bad = ~np.isfinite(got) & np.isfinite(want)
    if not bad.any():
        return ""
    word = "NaN" if np.isnan(got[bad]).all() else "Infinity" if np.isinf(got[bad]).all() else "NaN or infinity"
    if want.ndim >= 1:
        empty = (want == 0).all(-1)
        if empty.any() and not bad[~empty].any() and not empty.all():
            return f"{word} comes only in the rows where zero is right: rows that see nothing."
    return f"{word} comes at {int(bad.sum())} of {bad.size} places."


FACTORS = {"ln 2": math.log(2), "log2(e)": 1 / math.log(2), "2": 2.0, "1/2": 0.5, "-1": -1.0, "4": 4.0, "1/4": 0.25}


def factor(got: np.ndarray, want: np.ndarray) -> str:
    """A constant factor, and which."""
    finite = np.isfinite(want) & np.isfinite(got)
    a, b = got[finite].astype(float), want[finite].astype(float)
    if a.size < 2 or not np.abs(b).max() or not near(np.isfinite(got), np.isfinite(want)):
        return ""
    ratio = float(a @ b / (b @ b))
    if ratio == 0 or abs(ratio - 1) < 1e-3 or not near(a, ratio * b):
        return "" if ratio or a.any() else "Every entry is zero."
    return f"Every entry is {_ratio(ratio, want.shape)} times what is right."


def _ratio(ratio: float, shape: tuple[int, ...]) -> str:
    names = dict(FACTORS)
    for size in {n for n in shape if n > 1}:
        names |= {f"{size}": size, f"1/{size}": 1 / size, f"sqrt({size})": math.sqrt(size), f"1/sqrt({size})": 1 / math.sqrt(size)}
    close = [name for name, value in names.items() if abs(value / ratio - 1) < 1e-4]
    return f"{ratio:.4g} (= {close[0]})" if close else f"{ratio:.4g}"


def places(got: np.ndarray, want: np.ndarray) -> str:
    """The right numbers in the wrong places."""
    if want.ndim >= 2 and want.shape[-1] == want.shape[-2] and near(got, np.swapaxes(want, -1, -2)):
        return "The last two axes are swapped."
    for axis in range(want.ndim):
        if 1 < want.shape[axis] <= 6:
            for order in itertools.islice(itertools.permutations(range(want.shape[axis])), 1, 720):
                if near(got, np.take(want, order, axis)):
                    return f"The right values stand in another order along axis {axis}: {list(order)}."
    if want.size > 3 and near(np.sort(got, axis=None), np.sort(want, axis=None)) and len(np.unique(want)) > want.size // 2:
        return "All the right values are there, in the wrong places."
    return ""


def rows(got: np.ndarray, want: np.ndarray) -> str:
    """Weights that don't sum to one where the right ones do; only some rows wrong."""
    if want.ndim < 1 or not np.isfinite(got).all() or not np.isfinite(want).all():
        return ""
    sums = want.sum(-1)
    if want.min() >= 0 and want.size > 1 and np.allclose(sums[sums > 0.5], 1, atol=1e-2) and (sums > 0.5).any():
        mine = got.sum(-1)[sums > 0.5]
        if np.abs(mine - 1).max() > 2e-2:
            return f"Rows of weights sum to {float(mine.reshape(-1)[np.abs(mine - 1).argmax()]):.3g} where 1 is right."
    if want.ndim >= 2:
        size = float(np.abs(want).max()) or 1.0
        wrong = (np.abs(got - want) > 1e-3 * size).any(-1)
        flat = wrong.reshape(-1, wrong.shape[-1]) if wrong.ndim else wrong
        if wrong.any() and not wrong.all() and flat.shape[-1] > 1:
            which = np.flatnonzero(flat.any(0))
            if len(which) < flat.shape[-1]:
                named = ", ".join(map(str, which[:6]))
                return f"Only {f'row {named} of {flat.shape[-1]} is' if len(which) == 1 else f'rows {named} of {flat.shape[-1]} are'} wrong, counted from 0."
    return ""


def narrowed(values: np.ndarray) -> bool:
    """Whether float64 numbers hold only float32's digits."""
    return values.dtype == np.float64 and bool((values.astype(np.float32) == values).all())


def digits(got: np.ndarray, want: np.ndarray) -> str:
    """About right, but with fewer digits than the dtype has."""
    if np.isfinite(got).all() and np.isfinite(want).all() and np.abs(want).max() > 0:
        error = float(np.abs(got - want).max() / np.abs(want).max())
        if 0 < error < 0.03:
            told = f"It is right to about {max(1, round(-math.log10(error)))} digits"
            return f"{told}, and its numbers are float32's: something on the way was narrowed." if narrowed(got) else f"{told}."
    return ""
