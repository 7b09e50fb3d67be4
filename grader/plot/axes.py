"""An axis: from a value to a place between 0 and 1, and the few values worth a label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Axis:
    """Linear or logarithmic, from ``low`` to ``high`` (in decades, if logarithmic)."""

    low: float
    high: float
    log: bool = False

    @classmethod
    def over(cls, values: Sequence[float] | np.ndarray, log: bool) -> Axis:
        """The axis that shows all these values (what can't be shown is left out)."""
        shown = _warped(values, log)
        shown = shown[np.isfinite(shown)]
        if shown.size == 0:
            return cls(0.0, 1.0, log)
        low, high = float(shown.min()), float(shown.max())
        if not log:
            low = min(low, 0.0)
        return cls(low, high if high - low > 1e-9 else low + 1.0, log)

    def places(self, values: Sequence[float] | np.ndarray) -> np.ndarray:
        """Where values lie; nan for those that have no place."""
        return (_warped(values, self.log) - self.low) / (self.high - self.low)

    def place(self, value: float) -> float:
        """Where one value lies."""
        return float(self.places([value])[0])

    def ticks(self, count: int) -> list[tuple[float, str]]:
        """At most about ``count`` round values with their labels."""
        if not self.log:
            step = _round_up((self.high - self.low) / max(1, count - 1))
            first = np.ceil(self.low / step - 1e-9) * step
            return [(float(value), f"{value:g}") for value in np.round(np.arange(first, self.high + step * 1e-6, step), 12) + 0.0]
        first, last = int(np.ceil(self.low - 1e-9)), int(np.floor(self.high + 1e-9))
        if last - first >= 1:
            stride = max(1, int(np.ceil((last - first) / max(1, count - 1))))
            return [(10.0**power, _power(power)) for power in range(first, last + 1, stride)]
        return [(10.0**end, f"{10.0**end:.0f}" if end >= 2 else f"{10.0**end:.3g}") for end in (self.low, self.high)]


def _warped(values: Sequence[float] | np.ndarray, log: bool) -> np.ndarray:
    flat = np.asarray(values, float)
    if not log:
        return np.where(np.isfinite(flat), flat, np.nan)
    with np.errstate(all="ignore"):
        return np.where(np.isfinite(flat) & (flat > 0), np.log10(np.where(flat > 0, flat, 1.0)), np.nan)


def _round_up(step: float) -> float:
    size = 10.0 ** np.floor(np.log10(step))
    return float(next(size * m for m in (1, 2, 2.5, 5, 10) if size * m >= step - 1e-12))


def _power(power: int) -> str:
    return f"{10**power:g}" if 0 <= power <= 4 else f"{10.0**power:g}" if -2 <= power < 0 else f"1e{power}"
