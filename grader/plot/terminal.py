"""A picture in a terminal: characters that tell curves and cells apart without colour; colour only repeats what they say."""

from __future__ import annotations

import textwrap

import click
import numpy as np

from ..render.text import tame
from .axes import Axis
from .picture import Chart, Curve, Grid, Panel, Picture

GLYPHS = "●○×+#"
HUES = ("blue", "red", "green", "magenta", "cyan")
INKS = ("white", "white", "black", "white", "black")  # what can be read on each
SHADES = "·░▒▓█"
HEIGHT = 13
BETWEEN = 4
SHORT_NAME = 3  # so long a column's name may be and still make its cells wider


def as_text(picture: Picture, *, width: int, colour: bool) -> str:
    """The picture at a width; panels stand side by side where there is room."""
    lines = [_style(picture.title, colour, bold=True), *textwrap.wrap(picture.point, width), ""]
    for row in _rows(picture.panels, width):
        lines += [*_beside([panel_lines(panel, width, colour) for panel in row]), ""]
    for fact in picture.facts:
        lines += textwrap.wrap(fact, width)
    return "\n".join(line.rstrip() for line in lines).rstrip()


Line = tuple[str, str]  # as it's measured, as it's printed


def _rows(panels: tuple[Panel, ...], width: int) -> list[list[Panel]]:
    rows: list[list[Panel]] = []
    left = 0
    for panel in panels:
        need = width if isinstance(panel, Chart) else _grid_width(panel)
        if rows and need <= left - BETWEEN:
            rows[-1].append(panel)
            left -= need + BETWEEN
        else:
            rows.append([panel])
            left = width - need
    return rows


def _beside(columns: list[list[Line]]) -> list[str]:
    widths = [max((len(plain) for plain, _ in column), default=0) for column in columns]
    out = []
    for place in range(max(map(len, columns))):
        cells = [column[place] if place < len(column) else ("", "") for column in columns]
        out.append((" " * BETWEEN).join(shown + " " * (width - len(plain)) for (plain, shown), width in zip(cells, widths, strict=True)))
    return out


def panel_lines(panel: Panel, width: int, colour: bool) -> list[Line]:
    """The lines of one panel."""
    return _chart(panel, width, colour) if isinstance(panel, Chart) else _grid(panel, width, colour)


# ------------------------------------------------------------ charts


def _chart(chart: Chart, width: int, colour: bool) -> list[Line]:
    xs = np.concatenate([np.asarray(curve.x, float) for curve in chart.curves])
    ys = np.concatenate([np.asarray(curve.y, float) for curve in chart.curves])
    vertical, horizontal = Axis.over(ys, chart.log_y), Axis.over(xs, chart.log_x)
    ticks = {HEIGHT - 1 - round(vertical.place(value) * (HEIGHT - 1)): label for value, label in vertical.ticks(5)}
    gutter = max(len(label) for label in ticks.values()) + 1
    columns = max(20, width - gutter - 2)
    canvas = _canvas(chart, horizontal, vertical, columns)
    lines = [_line(_cut(chart.title, width), colour, bold=True), _line(_cut(f"{chart.y} (up) against {chart.x}", width), colour, dim=True)]
    for row, cells in enumerate(canvas):
        head = f"{ticks.get(row, ''):>{gutter}} {'┤' if row in ticks else '│'}"
        lines.append((head + "".join(glyph for glyph, _ in cells), head + "".join(_style(g, colour and n >= 0, fg=HUES[n]) for g, n in cells)))
    lines += [_line(" " * (gutter + 1) + "└" + "─" * columns, False), _line(" " * (gutter + 2) + _scale(horizontal, columns), False)]
    return lines + [_key(number, curve.name, width, colour) for number, curve in enumerate(chart.curves)]


def _canvas(chart: Chart, horizontal: Axis, vertical: Axis, columns: int) -> list[list[tuple[str, int]]]:
    """Glyphs and the curves that they belong to; where several curves share cells, they take turns, so that none hides another."""
    owners: dict[tuple[int, int], list[int]] = {}
    for number, curve in enumerate(chart.curves):
        for cell in _cells(curve, horizontal, vertical, columns):
            owners.setdefault(cell, []).append(number)
    canvas = [[(" ", -1)] * columns for _ in range(HEIGHT)]
    for (row, column), claims in owners.items():
        number = claims[column // 2 % len(claims)]
        canvas[row][column] = (GLYPHS[number], number)
    return canvas


def _key(number: int, name: str, width: int, colour: bool) -> Line:
    text = _cut(f"  {GLYPHS[number]} {name}", width)
    return text, _style(text[:3], colour, fg=HUES[number]) + text[3:]


def _cells(curve: Curve, horizontal: Axis, vertical: Axis, columns: int) -> list[tuple[int, int]]:
    """The cells that a curve passes, steep pieces filled."""
    x, y = horizontal.places(curve.x), vertical.places(curve.y)
    seen = np.isfinite(x) & np.isfinite(y)
    if not seen.any():
        return []
    x, y = x[seen], np.clip(y[seen], 0, 1)
    out: list[tuple[int, int]] = []
    before: int | None = None
    first, last = round(x.min() * (columns - 1)), round(x.max() * (columns - 1))
    for column in range(first, last + 1):
        row = HEIGHT - 1 - round(float(np.interp(column / max(1, columns - 1), x, y)) * (HEIGHT - 1))
        step = 0 if before is None or abs(row - before) <= 1 else int(np.sign(row - before))
        out += [(between, column) for between in range(before + step, row, step)] if step and before is not None else []
        out.append((row, column))
        before = row
    return out


def _scale(axis: Axis, columns: int) -> str:
    """The labels under the horizontal axis, each below its place, none on top of another."""
    line = ""
    for value, label in axis.ticks(5 if columns > 45 else 3):
        at = min(columns - len(label), max(0, round(axis.place(value) * (columns - 1)) - len(label) // 2))
        if at >= len(line) + (1 if line else 0):
            line += " " * (at - len(line)) + label
    return line


# ------------------------------------------------------------ grids


def _cell_texts(grid: Grid) -> list[list[str]]:
    rows, columns = grid.shape
    if grid.shade is None:
        return [[f"{_label(grid, r, c):^{_cell_width(grid)}}" for c in range(columns)] for r in range(rows)]
    blocks = [[SHADES[min(4, max(0, int(np.ceil(float(grid.shade[r][c]) * 4))))] for c in range(columns)] for r in range(rows)]
    if grid.labels is None:
        return [[block + block if block != "·" else "· " for block in row] for row in blocks]
    return [[f"{blocks[r][c]}{_label(grid, r, c):>{_cell_width(grid) - 1}}" for c in range(columns)] for r in range(rows)]


def _cell_width(grid: Grid) -> int:
    if grid.labels is None:
        return 2
    rows, columns = grid.shape
    labels = max(len(_label(grid, r, c)) for r in range(rows) for c in range(columns)) + (grid.shade is not None)
    return max([labels, *(len(name) for name in grid.columns if len(name) <= SHORT_NAME)])


def _label(grid: Grid, row: int, column: int) -> str:
    return tame(str(grid.labels[row][column]), lines=1)


def _gutter(grid: Grid) -> int:
    return max((len(name) for name in grid.rows), default=0) + (1 if grid.rows else 0)


def _grid_width(grid: Grid) -> int:
    body = _gutter(grid) + grid.shape[1] * (_cell_width(grid) + 1)
    return max(body, len(grid.title), min(len(grid.legend), 30))


def _grid(grid: Grid, width: int, colour: bool) -> list[Line]:
    gutter, cell = _gutter(grid), _cell_width(grid)
    room = min(width, _grid_width(grid))
    lines = [_line(piece, colour, bold=True) for piece in textwrap.wrap(grid.title, width)]
    if grid.columns:
        lines.append(_line(" " * gutter + " ".join(f"{_cut(name, cell):^{cell}}" for name in grid.columns), colour, dim=True))
    for number, texts in enumerate(_cell_texts(grid)):
        head = f"{grid.rows[number]:<{gutter}}" if grid.rows else ""
        plain, shown = head, head
        for place, text in enumerate(texts):
            group = None if grid.group is None else int(grid.group[number][place])
            apart = "" if place == 0 else "│" if group is not None and group != int(grid.group[number][place - 1]) else " "
            plain += apart + text
            shown += apart + (text if group is None else _style(text, colour, fg=INKS[group % len(HUES)], bg=HUES[group % len(HUES)]))
        lines.append((plain, shown))
    return lines + [_line(piece, colour, dim=True) for piece in textwrap.wrap(grid.legend, max(room, 20))]


# ------------------------------------------------------------ words


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _line(text: str, colour: bool, **how: object) -> Line:
    plain = tame(text, lines=1)
    return plain, _style(plain, colour, **how)


def _style(text: str, colour: bool, **how: object) -> str:
    return click.style(text, **how) if colour and text.strip() else text  # type: ignore[arg-type]
