"""``attngrade export moodle-grades``: a graded batch for Moodle's gradebook, or an assignment's worksheet filled in."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import UsageProblem

FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("moodle-grades", epilog="Example: attngrade export moodle-grades interview --by email --roster roster.csv --output grades.csv")
@click.argument("kit", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option("--results", type=click.Path(path_type=Path, file_okay=False), help="Where the results are (default: results/ in the kit).")
@click.option("--by", type=click.Choice(["email", "username", "idnumber"]), default="email", show_default=True, help="What the first column identifies users by.")
@click.option("--roster", type=FILE, help="A CSV with the columns candidate and email (username, idnumber); without it the returns' own names are taken.")
@click.option("--worksheet", type=FILE, help="Fill in this grading worksheet of an assignment instead.")
@click.option("--out-of", type=click.FloatRange(min=0, min_open=True), default=100.0, show_default=True, help="The grade for all points.")
@click.option("--output", type=FILE, help="Write to this file (default: the screen).")
@click.option("--pack", type=click.Path(path_type=Path, file_okay=False), help="Use the exercise set in this folder.")
def moodle_grades(kit: Path, results: Path | None, by: str, roster: Path | None, worksheet: Path | None, out_of: float, output: Path | None, pack: Path | None) -> None:
    """A batch's grades as CSV for Moodle: Grades, Import, CSV file; or the assignment's Upload grading worksheet. Overrides are taken in."""
    from ..catalog import open_pack
    from ..takehome import gradebook
    from ..takehome.plan import read_plan
    from ..takehome.review import reviewed_batch
    from .export_questions import _deliver
    from .takehome import _prompts

    found = open_pack(pack)
    plan = read_plan(kit, found, frozenset(_prompts(found)))
    records, remarks = reviewed_batch(kit, results)
    if worksheet is not None:
        text, left_out = gradebook.worksheet(records, _read(worksheet), out_of)
    else:
        text, left_out = gradebook.gradebook(records, plan.title, by, out_of, gradebook.read_roster(roster, by) if roster else None)
    for remark in (*remarks, *left_out):
        click.echo(f"Note: {remark}", err=True)
    _deliver(text, output)


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageProblem(f"{path} can't be read as a UTF-8 CSV ({error}).") from None


EXPORTS = [moodle_grades]
