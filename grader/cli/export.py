"""``attngrade export``: a group whose formats are imported when they are asked for."""

from __future__ import annotations

import importlib
import importlib.util

import click

FORMATS = {  # name -> (module of this package, one line); a module exposes EXPORTS, a list of commands
    "anki": ("export_questions", "an Anki package that updates on a second import"),
    "csv": ("export_questions", "the questions as a table for a spreadsheet"),
    "tsv": ("export_questions", "the questions as cards for any flashcard program"),
    "moodle": ("export_questions", "the questions as Moodle XML"),
    "html": ("export_questions", "a page to print, readable offline"),
    "moodle-grades": ("export_grades", "a graded batch for Moodle's gradebook"),
    "gradescope": ("export_course", "an autograder for Gradescope"),
    "github-classroom": ("export_course", "an assignment for GitHub Classroom"),
}


class Formats(click.Group):
    """Subcommands from the table above."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name, (module, _) in FORMATS.items() if importlib.util.find_spec(f"..{module}", __name__)]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"..{FORMATS[name][0]}", __name__)
        return next((command for command in module.EXPORTS if command.name == name), None)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, FORMATS[name][1]) for name in self.list_commands(ctx)])


@click.command("export", cls=Formats, epilog="Example: attngrade export anki --output attention.apkg")
def export() -> None:
    """Take questions and exercises to other programs."""


COMMANDS = [export]
