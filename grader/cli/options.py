"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

C = TypeVar("C", bound=Callable[..., Any])


def bank_options(command: C) -> C:
    """``--bank`` with a folder of question files, or ``--pack`` with an exercise set that has some; either becomes the parameter ``bank``."""
    folder = click.Path(path_type=Path, file_okay=False)
    pack = click.option("--pack", type=folder, expose_value=False, callback=_questions_of, help="Use the questions of the exercise set in this folder.")
    return pack(click.option("--bank", "bank", type=folder, callback=_given, help="Use the question files in this folder.")(command))


def _given(context: click.Context, _: click.Parameter, value: Path | None) -> Path | None:
    return value or context.params.get("bank")  # the other option has been given


def _questions_of(context: click.Context, parameter: click.Parameter, value: Path | None) -> None:
    if value is not None and not (value / "questions").is_dir():
        raise click.BadParameter(f"{value} has no folder questions/: an exercise set keeps its questions there.", context, parameter)
    if value is not None:
        context.params["bank"] = value / "questions"
