"""An exercise's statement for a screen: what its stub says, what is off limits, each function with what it promises."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import click

from ..render.prose import blocks, wrapped
from .plain import colours

if TYPE_CHECKING:
    from ..catalog import Exercise

FEW = 5  # modules off limits that are named one by one
CHECK_LINE = re.compile(r"\s*Check\b.*attngrade check ")  # the last line of a stub, which `show` says itself


def statement(text: str, width: int) -> list[str]:
    """A stub's docstring for a screen: prose is filled, formulas stay as they are, a remark that is too far to the right stands nearer, or below."""
    lines: list[str] = []
    for block in blocks("\n".join(line for line in text.split("\n") if not CHECK_LINE.match(line))):
        lines += [""] if lines else []
        if block.kind == "code":
            lines += [piece for line in block.lines for piece in _formula(line, width)]
        else:
            lines += wrapped("\n".join(f"- {line}" for line in block.lines) if block.kind == "list" else block.lines[0], width)
    return lines


def off_limits(exercise: Exercise) -> str:
    """What may not be used, in a sentence: everywhere, in some functions, modules."""
    calls: dict[tuple[str, ...], list[str]] = {}
    for rule in exercise.off_limits:
        calls.setdefault(rule.functions if rule.kind != "module" else ("module",), []).append(rule.name)
    everywhere, modules = calls.pop((), []), calls.pop(("module",), [])
    parts = [", ".join(everywhere), *(f"in {' and '.join(functions)} also {', '.join(names)}" for functions, names in calls.items())]
    more = f" and {len(modules) - FEW} more that bring what is asked for" if len(modules) > FEW + 1 else ""
    parts += [f"the module{'s' if len(modules) > 1 else ''} {', '.join(modules[:FEW] if more else modules)}{more}"] if modules else []
    return f"Off limits: {'; '.join(part for part in parts if part)}."


def _formula(line: str, width: int) -> list[str]:
    """A line of code or algebra, broken where it has gaps if it is too long; its first line at four spaces, the others at eight."""
    if len(line) + 4 <= width:
        return [f"    {line}"]
    made = ["   "]
    for gap, piece in re.findall(r"( *)(\S+(?: \S+)*)", line):
        apart = gap[:4] or " "
        if len(made[-1] + apart + piece) > width and made[-1].strip():
            made.append(" " * 8 + piece)
        else:
            made[-1] += apart + piece
    return made


def function(node: ast.FunctionDef | ast.ClassDef, width: int, indent: str = "") -> list[str]:
    """A function with what it promises; a class with its methods."""
    head = f"{node.name}({ast.unparse(node.args).removeprefix('self, ')})" if isinstance(node, ast.FunctionDef) else f"class {node.name}"
    head = click.wrap_text(head, width, indent, indent + "        ")
    lines = [click.style(head, bold=True) if colours() else head]
    for paragraph in (ast.get_docstring(node) or "").split("\n\n"):
        lines.append(click.wrap_text(" ".join(paragraph.split()), width, indent + "    ", indent + "    "))
    lines.append("")
    for method in node.body if isinstance(node, ast.ClassDef) else []:
        if isinstance(method, ast.FunctionDef) and ast.get_docstring(method):
            lines += function(method, width, indent + "    ")
    return lines
