"""What a picture holds: numbers and words, no ink.

    Picture("Title", point="The one sentence that it proves.", panels=(Chart(...), Grid(...)), facts=("At 1024: 31.9 and 1.00.",))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Curve:
    """One line of a chart. Values that aren't finite (or not positive, on a logarithmic axis) leave a gap."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True)
class Chart:
    """Curves over a common pair of axes."""

    title: str
    x: str
    y: str
    curves: tuple[Curve, ...]
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Grid:
    """Cells in rows and columns: ``shade`` from 0 (empty) to 1 (full), or ``labels`` with a ``group`` each (one colour per group), or both."""

    title: str
    shade: Any = None  # (rows, columns) floats
    labels: Any = None  # (rows, columns) strings
    group: Any = None  # (rows, columns) whole numbers
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    legend: str = ""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return np.asarray(self.shade if self.shade is not None else self.labels).shape


Panel = Chart | Grid


@dataclass(frozen=True)
class Picture:
    """Panels, the point that they make, and what the numbers in them say."""

    title: str
    point: str
    panels: tuple[Panel, ...]
    facts: tuple[str, ...] = field(default=())


Author = Callable[[Any, np.random.Generator], Picture]
