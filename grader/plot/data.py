"""A picture as plain data: the numbers behind every curve and cell."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .picture import Chart, Curve, Grid, Panel, Picture


def as_data(picture: Picture) -> dict[str, Any]:
    """Title, point, panels and facts; what isn't finite is null."""
    return {"title": picture.title, "point": picture.point, "panels": [_panel(panel) for panel in picture.panels], "facts": list(picture.facts)}


def _panel(panel: Panel) -> dict[str, Any]:
    if isinstance(panel, Chart):
        return {"kind": "chart", "title": panel.title, "x": panel.x, "y": panel.y, "log_x": panel.log_x, "log_y": panel.log_y, "curves": [_curve(one) for one in panel.curves]}
    return {"kind": "grid", "title": panel.title, "rows": list(panel.rows), "columns": list(panel.columns), "legend": panel.legend, **_cells(panel)}


def _curve(curve: Curve) -> dict[str, Any]:
    return {"name": curve.name, "x": _numbers(curve.x), "y": _numbers(curve.y)}


def _cells(grid: Grid) -> dict[str, Any]:
    labels = None if grid.labels is None else [[str(each) for each in row] for row in grid.labels]
    return {"shade": None if grid.shade is None else [_numbers(row) for row in np.asarray(grid.shade)], "labels": labels,
            "group": None if grid.group is None else [[int(each) for each in row] for row in grid.group]}


def _numbers(values: Any) -> list[float | None]:
    return [number if math.isfinite(number) else None for number in map(float, values)]
