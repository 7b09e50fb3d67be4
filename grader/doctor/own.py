"""What is the person's own: the record, the terminal, and the extras that they may have installed."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys

from .findings import Finding, State

NARROW = 60


def record() -> Finding:
    """The store: can it be written?"""
    from ..store import StoreProblem, database_path, open_store

    try:
        with open_store() as store:
            count, place = len(store.entries()), store.path
    except StoreProblem as error:
        told, _, remedy = str(error).partition(". ")
        return Finding("Record", State.LESS, f"{told.rstrip('.')}; checks work, and nothing is remembered", remedy or _writable(str(database_path().parent)))
    return Finding("Record", State.GOOD, f"{place}, {count} entr{'y' if count == 1 else 'ies'}")


def _writable(folder: str) -> str:
    return f"Make {folder} writable, or set ATTNGRADE_HOME to another folder."


def terminal() -> Finding:
    """Width, colour, and whether blocks and marks can be written."""
    columns, rows = shutil.get_terminal_size((80, 24))
    if not sys.stdout.isatty():
        return Finding("Terminal", State.ABSENT, "standard output is no terminal: no colours, no keys")
    colour = "no colour (NO_COLOR is set)" if "NO_COLOR" in os.environ else "colour"
    told = f"{os.environ.get('TERM', 'unknown')}, {columns}x{rows}, {colour}, {sys.stdout.encoding}"
    if (sys.stdout.encoding or "").lower().replace("-", "") not in ("utf8", "utf16", "cp65001"):
        return Finding("Terminal", State.LESS, f"{told}: pictures and marks need UTF-8", "`export LANG=C.UTF-8` (on Windows: `set PYTHONUTF8=1`)")
    if columns < NARROW:
        return Finding("Terminal", State.LESS, f"{told}: narrow", f"{NARROW} columns or more show everything, 80 are comfortable.")
    return Finding("Terminal", State.GOOD, told)


def pictures() -> Finding:
    """The extra for PNG and SVG."""
    if importlib.util.find_spec("matplotlib"):
        return Finding("Pictures", State.GOOD, "in the terminal, and as PNG or SVG")
    return Finding("Pictures", State.ABSENT, "in the terminal; files need matplotlib", "`pip install 'attngrade[plots]'`")


def notebook() -> Finding:
    """The extra for the cell magic."""
    if importlib.util.find_spec("IPython"):
        return Finding("Notebook", State.GOOD, "`%load_ext attngrade`, then `%%attngrade EXERCISE` on a cell")
    return Finding("Notebook", State.ABSENT, "no IPython here", "`pip install 'attngrade[notebook]'`")
