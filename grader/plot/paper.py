"""A picture as PNG or SVG, through matplotlib: told apart by marks, dashes, hatches and numbers, so that greyscale loses nothing."""

from __future__ import annotations

import importlib.util
import os
import textwrap
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UsageProblem
from .picture import Chart, Grid, Panel, Picture

SUFFIXES = (".png", ".svg")
INKS = ("#08306b", "#b30000", "#737373", "#238b45", "#000000")  # dark blue, red, grey, green, black: of unlike lightness
STROKES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1)))
MARKS = ("o", "s", "x", "^", "+")
FILLS = ("#deebf7", "#9ecae1", "#f0f0f0", "#bdbdbd", "#ffffff")
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx")


def ready_for(output: Path) -> None:
    """Whether the file can be written in the end. Raises UsageProblem, before anything is computed."""
    if output.suffix.lower() not in SUFFIXES:
        raise UsageProblem(f"{output} should end in .png or .svg: the ending says which of the two to write.")
    if importlib.util.find_spec("matplotlib") is None:
        raise UsageProblem("PNG and SVG need matplotlib: `pip install 'attngrade[plots]'`. Without --output the picture is drawn in the terminal.")
    if not output.absolute().parent.is_dir():
        raise UsageProblem(f"{output.parent} is not a folder. Make it first, or choose another --output.")


def write(picture: Picture, because: str, output: Path) -> None:
    """Draw into a file, written beside and then renamed. Raises UsageProblem."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "attngrade"
    from matplotlib import pyplot

    kind = output.suffix.lower().removeprefix(".")
    figure = _figure(picture, because)
    beside = output.with_name(f".{output.name}.{os.getpid()}.tmp")
    try:
        figure.savefig(beside, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
        os.replace(beside, output)
    except OSError as error:
        raise UsageProblem(f"{output} can't be written ({error.strerror}). Choose another --output.") from None
    finally:
        beside.unlink(missing_ok=True)
        pyplot.close(figure)


def _figure(picture: Picture, because: str) -> Any:
    from matplotlib import pyplot

    columns = 1 if len(picture.panels) == 1 else 2
    rows = -(-len(picture.panels) // columns)
    heights = [max(map(_height, picture.panels[row * columns : (row + 1) * columns])) for row in range(rows)]
    figure, places = pyplot.subplots(
        rows, columns, figsize=(5.6 * columns, sum(heights) + 1.6), squeeze=False, layout="constrained", height_ratios=heights,
    )
    for place, panel in zip(places.flat, picture.panels, strict=False):
        if isinstance(panel, Chart):
            _chart(place, panel)
        else:
            _grid(place, panel)
    for place in places.flat[len(picture.panels) :]:
        place.axis("off")
    figure.suptitle(f"{picture.title}\n{textwrap.fill(picture.point, 46 * columns)}", fontsize=11)
    figure.supxlabel("\n".join(textwrap.fill(line, 56 * columns) for line in (*picture.facts, because)), fontsize=8)
    return figure


def _height(panel: Panel) -> float:
    """Inches that a panel wants."""
    if isinstance(panel, Chart):
        return 3.6
    rows, columns = panel.shape
    return min(3.6, 4.6 * rows / columns + 1.1)


def _chart(place: Any, chart: Chart) -> None:
    for number, curve in enumerate(chart.curves):
        x, y = np.asarray(curve.x, float), np.asarray(curve.y, float)
        y = np.where(np.isfinite(y) & ((y > 0) | (not chart.log_y)), y, np.nan)
        place.plot(x, y, label=curve.name, color=INKS[number], linestyle=STROKES[number], marker=MARKS[number], markersize=4,
                   markevery=max(1, len(x) // 12), markerfacecolor="white" if number % 2 else INKS[number], linewidth=1.8 - 0.3 * (number % 2))
    place.set(title=chart.title, xlabel=chart.x, ylabel=chart.y, xscale="log" if chart.log_x else "linear", yscale="log" if chart.log_y else "linear")
    place.grid(color="#dddddd", linewidth=0.6)
    place.legend(fontsize=7, framealpha=0.9)


def _grid(place: Any, grid: Grid) -> None:
    rows, columns = grid.shape
    for row in range(rows):
        for column in range(columns):
            _cell(place, grid, row, column)
    place.set(xlim=(0, columns), ylim=(rows, 0), aspect="equal", title="\n".join(textwrap.wrap(grid.title, 48)), xlabel=textwrap.fill(grid.legend, 60))
    place.set_xticks(np.arange(columns) + 0.5, grid.columns or [""] * columns)
    place.set_yticks(np.arange(rows) + 0.5, grid.rows or [""] * rows)
    place.tick_params(length=0, labelsize=8)
    place.title.set_size(10)
    place.xaxis.label.set_size(7)


def _cell(place: Any, grid: Grid, row: int, column: int) -> None:
    from matplotlib.patches import Rectangle

    shade = None if grid.shade is None else float(np.clip(grid.shade[row][column], 0, 1))
    group = None if grid.group is None else int(grid.group[row][column])
    fill = str(1 - 0.85 * shade) if shade is not None else FILLS[(group or 0) % len(FILLS)]
    hatch = HATCHES[(group or 0) % len(HATCHES)] if group is not None else ""
    place.add_patch(Rectangle((column, row), 1, 1, facecolor=fill, edgecolor="#999999", linewidth=0.5, hatch=hatch))
    if grid.labels is not None and grid.labels[row][column]:
        place.text(column + 0.5, row + 0.5, grid.labels[row][column], ha="center", va="center", fontsize=8, color="white" if (shade or 0) > 0.6 else "black",
                   bbox={"facecolor": fill, "edgecolor": "none", "pad": 0.8} if hatch else None)
