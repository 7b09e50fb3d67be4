"""``make docs``: the reference pages, generated from what they describe: --help of every command, the catalog, the bank, docs/schemas, the exit codes.

    python -m scripts.reference [--folder FOLDER]

A test fails while the committed pages differ from what this writes (but docs/licences.md, which depends on what is installed).
"""

from __future__ import annotations

import argparse
import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from attngrade.catalog import Exercise, builtin
from attngrade.cli import cli
from attngrade.errors import AttngradeError, PackProblem, UsageProblem
from attngrade.quiz.question import load_bank
from attngrade.verdict import Reason, Verdict, Word, exit_code

from . import licences

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
NOTE = "<!-- Written by `make docs`; don't edit by hand. -->\n"
WIDTH = 78  # what click takes of a terminal with 80 columns
REASONS = {
    Reason.WRONG_RESULT: "a check found a wrong result", Reason.RULE_BROKEN: "a call that is off limits",
    Reason.NOT_IMPLEMENTED: "a function is missing or raises NotImplementedError", Reason.LOAD_ERROR: "the file can't be loaded",
    Reason.TIMEOUT: "the time limit ran out", Reason.MEMORY: "the memory limit was met", Reason.CRASH: "the submission's process ended early",
    Reason.NO_GPU: "right so far, and a CUDA device is needed to pass", Reason.GRADER: "a fault of the grader; charged to nobody",
}


def walk(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[tuple[str, str]]:
    """Every command with its help, groups before what is in them."""
    with click.Context(command, info_name=name, parent=parent, terminal_width=WIDTH, **command.context_settings) as context:
        yield context.command_path, command.get_help(context)
        if isinstance(command, click.Group):
            for inner in command.list_commands(context):
                found = command.get_command(context, inner)
                assert found is not None, inner
                yield from walk(found, inner, context)


def commands() -> str:
    """--help of every command."""
    parts = [f"## {path}\n\n```text\n{told.rstrip()}\n```\n" for path, told in walk(cli, "attngrade")]
    return f"# Commands\n\n{NOTE}\nWhat `--help` says, command by command.\n\n" + "\n".join(parts)


def exit_codes() -> str:
    """The codes as the code gives them, and the reasons of a verdict."""

    def one(word: Word, reason: Reason | None = None) -> int:
        return exit_code([Verdict("exercise", "", word, reason)])

    rows = [(one(Word.PASSED), "everything asked for passed"), (one(Word.FAILED, Reason.WRONG_RESULT), "at least one failed"),
            (UsageProblem.exit_code, "the command line is wrong, or what was asked for doesn't exist"),
            (AttngradeError.exit_code, "the grader could not do its work (no sandbox where one is required, a broken set); no verdict was given"),
            (one(Word.PROVISIONAL, Reason.NO_GPU), "nothing failed, something is only `provisional`")]
    assert one(Word.ERROR, Reason.GRADER) == AttngradeError.exit_code == PackProblem.exit_code
    lines = [f"# Exit codes and reasons\n\n{NOTE}", "Of `check`, `takehome grade` and `pack verify`. `takehome grade` ends with 0 once every return has a verdict, whatever the verdicts.",
             "Ctrl-C ends a command with 130, a closed pipe with 141.\n", "| code | meaning |", "| ---: | --- |"]
    lines += [f"| {code} | {meaning} |" for code, meaning in sorted(rows)]
    lines += ["\n## Reasons\n", "`reason` of a verdict that is not `passed`:\n", "| reason | meaning |", "| --- | --- |"]
    return "\n".join(lines + [f"| `{reason.value}` | {REASONS[reason]} |" for reason in Reason]) + "\n"


def exercises() -> str:
    """Every exercise: promise, functions with what they must do, what is off limits. No hint, no answer."""
    return f"# Exercises\n\n{NOTE}\n" + "\n".join(_exercise(exercise) for exercise in builtin().exercises)


def _exercise(exercise: Exercise) -> str:
    stub = ast.parse(exercise.stub.read_text(encoding="utf-8"))
    asked = [node for node in stub.body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in exercise.functions]
    stretch = f" and {exercise.stretch_points:g} stretch points" if exercise.stretch_points else ""
    needs = f"Arrays arrive as {'NumPy arrays' if exercise.framework == 'numpy' else 'torch tensors'}." + (" `passed` needs a CUDA device." if exercise.gpu else "")
    lines = [f"## {exercise.id}: {exercise.title}\n", f"{exercise.promise}\n", f"`{exercise.slug}`, {exercise.points:g} points{stretch}, {len(exercise.hints)} hints. {needs}\n",
             "| function | what it does |", "| --- | --- |", *(f"| `{_signature(node)}` | {_first(node)} |" for node in asked)]
    if exercise.off_limits:
        lines += ["", _off_limits(exercise)]
    return "\n".join(lines) + "\n"


def _signature(node: ast.FunctionDef | ast.ClassDef) -> str:
    return f"{node.name}({ast.unparse(node.args)})" if isinstance(node, ast.FunctionDef) else f"class {node.name}"


def _first(node: ast.FunctionDef | ast.ClassDef) -> str:
    return " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split()).replace("|", "\\|")


def _off_limits(exercise: Exercise) -> str:
    modules = [f"`{rule.name}`" for rule in exercise.off_limits if rule.kind == "module"]
    calls = [f"`{rule.name}`" + (f" (in {', '.join(rule.functions)})" if rule.functions else "") for rule in exercise.off_limits if rule.kind != "module"]
    below = f"the modules {', '.join(modules)} and everything below them" if len(modules) > 1 else "".join(f"the module {name} and everything below it" for name in modules)
    return "Off limits: " + "; ".join(part for part in (", ".join(calls), below) if part) + "."


def questions() -> str:
    """The bank without its answers."""
    bank = load_bank().questions
    lines = [f"# Questions\n\n{NOTE}\n{len(bank)} questions; `attngrade questions ID` shows the model answer and the points of one.\n"]
    for topic in dict.fromkeys(question.topic for question in bank):
        lines += [f"## {topic}\n", *(f"- `{q.id}` ({q.kind.replace('_', ' ')}, difficulty {q.difficulty}): {' '.join(q.prompt.split())}" for q in bank if q.topic == topic), ""]
    return "\n".join(lines)


def formats() -> str:
    """The JSON that scripts read, field by field, from docs/schemas."""
    lines = [f"# JSON\n\n{NOTE}\nThe schemas are in [docs/schemas](../schemas/check.json); tests hold every command's output against them.\n"]
    for path in sorted((DOCS / "schemas").glob("*.json")):
        schema = json.loads(path.read_text(encoding="utf-8"))
        lines += [f"## {schema['title']}\n", f"`{schema['x-command']}`, [{path.name}](../schemas/{path.name}). {schema['description']}\n",
                  "| field | type | meaning |", "| --- | --- | --- |", *_fields(schema, ""), ""]
    return "\n".join(lines)


def _fields(schema: dict[str, Any], prefix: str) -> Iterator[str]:
    if "items" in schema:
        yield from _fields(schema["items"], prefix + "[]")
    for name, field in schema.get("properties", {}).items():
        where = f"{prefix}.{name}" if prefix else name
        yield f"| `{where}` | {_type(field)} | {field.get('description', '')} |"
        yield from _fields(field, where)


def _type(field: dict[str, Any]) -> str:
    if "enum" in field:
        return " or ".join(f"`{json.dumps(value)}`" for value in field["enum"])
    if "const" in field:
        return f"`{field['const']}`"
    kinds = field.get("type", "")
    shown = " or ".join(kinds) if isinstance(kinds, list) else kinds
    return f"{shown} of {_type(field['items'])}" if shown == "array" and "properties" not in field["items"] else shown


def index() -> str:
    """What there is."""
    pages = {"commands": "what `--help` says", "exercises": "functions, points, what is off limits", "questions": "prompts by topic", "formats": "JSON, field by field",
             "exit-codes": "exit codes, and the reasons of a verdict"}
    return f"# Reference\n\n{NOTE}\n" + "\n".join(f"- [{name.replace('-', ' ').capitalize()}]({name}.md): {told}" for name, told in pages.items()) + "\n"


def pages() -> dict[str, str]:
    """Path inside docs/ -> the page."""
    return {"reference/index.md": index(), "reference/commands.md": commands(), "reference/exercises.md": exercises(), "reference/questions.md": questions(),
            "reference/formats.md": formats(), "reference/exit-codes.md": exit_codes()}


def main() -> None:
    """Write every page."""
    parser = argparse.ArgumentParser(prog="reference", description=__doc__)
    parser.add_argument("--folder", type=Path, default=DOCS)
    folder = parser.parse_args().folder
    written = {**pages(), "licences.md": licences.page()}
    for name, text in written.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    print(f"Wrote {len(written)} pages into {folder}.")


if __name__ == "__main__":
    main()
