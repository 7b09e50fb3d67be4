"""What misconceptions say, read from their files without running them: no torch is imported for a hint."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Advice:
    """The texts of one misconception."""

    id: str
    of: str
    message: str
    advice: str
    question: str | None = None
    hint: str | None = None


def read_advice(path: Path) -> dict[str, Advice]:
    """Misconception id -> its texts, from ``<slug>.py`` and its parts ``<slug>_*.py``. Unreadable files count as empty."""
    return {item.id: item for file in files_of(path) for _, item in marked(file)}


def files_of(path: Path) -> tuple[Path, ...]:
    """The file of an exercise's misconceptions and its parts, those that are there."""
    return tuple(file for file in (path, *sorted(path.parent.glob(f"{path.stem}_*.py"))) if file.is_file())


def marked(file: Path) -> list[tuple[int, Advice]]:
    """Line and texts of each misconception in a file. Unreadable files count as empty."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, UnicodeDecodeError):
        return []
    named = {target.id: node.value.value for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
             for target in node.targets if isinstance(target, ast.Name)}
    return [(node.lineno, item) for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef)) for item in _decorated(node, named)]


def _decorated(node: ast.FunctionDef | ast.ClassDef, named: Mapping[str, object]) -> list[Advice]:
    """The misconceptions that a definition is marked as; ``named``: the file's own constants."""

    def read(value: ast.expr) -> str:
        return str(value.value) if isinstance(value, ast.Constant) else str(named.get(value.id, "")) if isinstance(value, ast.Name) else ""

    text = inspect.cleandoc(ast.get_docstring(node) or "")
    message = " ".join(text.partition("\n\n")[0].split())
    found = []
    for call in node.decorator_list:
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "misconception" and call.args:
            told = {word.arg: read(word.value) for word in call.keywords if word.arg}
            found.append(Advice(read(call.args[0]), told.get("of", ""), message, text, told.get("question") or None, told.get("hint") or None))
    return found
