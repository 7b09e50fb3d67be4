"""``attngrade export anki|csv|tsv|moodle|html``: the questions in other programs' formats."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import UsageProblem
from .options import bank_options

if TYPE_CHECKING:
    from ..quiz.question import Question


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What the question exports have in common."""
    decorators = (
        click.option("--topic", "topics", multiple=True, help="Only questions of this topic (again for more)."),
        bank_options,
        click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file."),
    )
    for decorate in decorators:
        command = decorate(command)
    return command


@click.command("anki", epilog="Example: attngrade export anki --output attention.apkg")
@options
def anki(topics: tuple[str, ...], bank: Path | None, output: Path | None) -> None:
    """An Anki package. Import it again after an update: cards change in place and keep their history."""
    from ..export.anki import write_package

    questions, path = chosen(topics, bank), output or Path("attngrade.apkg")
    number = 0

    def write(beside: Path) -> None:
        nonlocal number
        number = write_package(questions, beside, datetime.now().astimezone())

    _whole(path, write)
    click.echo(f"{number} cards in {path}. In Anki: File, Import.", err=True)


@click.command("csv", epilog="Example: attngrade export csv --topic softmax > questions.csv")
@options
def csv(topics: tuple[str, ...], bank: Path | None, output: Path | None) -> None:
    """A table for a spreadsheet, to the screen or to a file."""
    from ..export.tables import as_csv

    _deliver(as_csv(chosen(topics, bank)), output)


@click.command("tsv", epilog="Example: attngrade export tsv --output cards.tsv")
@options
def tsv(topics: tuple[str, ...], bank: Path | None, output: Path | None) -> None:
    """Cards as lines, front and back parted by a tab; Anki reads key and tags from them."""
    from ..export.tables import as_tsv

    _deliver(as_tsv(chosen(topics, bank)), output)


@click.command("moodle", epilog="Example: attngrade export moodle --output attention.xml")
@options
def moodle(topics: tuple[str, ...], bank: Path | None, output: Path | None) -> None:
    """Moodle XML: essays carry their points for the grader, choices and numbers grade themselves."""
    from ..export.moodle import as_moodle

    _deliver(as_moodle(chosen(topics, bank)), output)


@click.command("html", epilog="Example: attngrade export html --output attention.html")
@options
def html(topics: tuple[str, ...], bank: Path | None, output: Path | None) -> None:
    """One page: questions, then answers. Prints with room to write; needs no network."""
    from ..export.page import as_page

    _deliver(as_page(chosen(topics, bank)), output)


def chosen(topics: tuple[str, ...], folder: Path | None) -> list[Question]:
    """The questions of these topics, all where none is named."""
    from .bank import of_topics, open_bank

    return of_topics(open_bank(folder), topics)


def _deliver(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text.encode("utf-8"), nl=False)
    else:
        _whole(output, lambda beside: beside.write_bytes(text.encode("utf-8")))
        click.echo(f"Written to {output}.", err=True)


def _whole(path: Path, write: Callable[[Path], object]) -> None:
    """Write beside, then rename: whoever looks sees the old file or the whole new one."""
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".attngrade-") as folder:
            beside = Path(folder) / path.name
            write(beside)
            os.replace(beside, path)
    except OSError as error:
        raise UsageProblem(f"{path} can't be written ({error.strerror}). Choose another --output.") from None


EXPORTS = [anki, csv, tsv, moodle, html]
