"""What misconceptions say, read from their files without running them."""

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


def marked(file: Path) -> list[tuple[int, Advice]]:
    """Line and texts of each misconception in a file. Unreadable files count as empty."""
    tree = _parsed(file)
    if tree is None:
        return []
    named, makers = _constants(file, tree), {"misconception": "", **_makers(tree)}
    return [(node.lineno, item) for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef)) for item in _decorated(node, named, makers)]


def _parsed(file: Path) -> ast.Module | None:
    try:
        return ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, UnicodeDecodeError):
        return None


def _constants(file: Path, tree: ast.Module) -> dict[str, object]:
    """Texts that a file gives names to, and those that it takes from files beside it."""
    found: dict[str, object] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (beside := file.with_name((node.module or "").rpartition(".")[2] + ".py")) != file:
            other = _parsed(beside) if beside.is_file() else None
            known = _constants(beside, other) if other is not None else {}
            found |= {alias.asname or alias.name: known[alias.name] for alias in node.names if alias.name in known}
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                pairs = zip(target.elts, node.value.elts, strict=False) if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple) else [(target, node.value)]
                found |= {name.id: value.value for name, value in pairs if isinstance(name, ast.Name) and isinstance(value, ast.Constant)}
    return found


def _makers(tree: ast.Module) -> dict[str, str]:
    """Decorators that a file makes of ``misconception`` for one function: name -> the function."""
    calls = [(maker.name, call) for maker in tree.body if isinstance(maker, ast.FunctionDef) for call in ast.walk(maker)
             if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "misconception"]
    return {name: str(word.value.value) for name, call in calls for word in call.keywords if word.arg == "of" and isinstance(word.value, ast.Constant)}


def _decorated(node: ast.FunctionDef | ast.ClassDef, named: Mapping[str, object], makers: Mapping[str, str]) -> list[Advice]:
    """The misconceptions that a definition is marked as."""

    def read(value: ast.expr) -> str:
        return str(value.value) if isinstance(value, ast.Constant) else str(named.get(value.id, "")) if isinstance(value, ast.Name) else ""

    text = inspect.cleandoc(ast.get_docstring(node) or "")
    message = " ".join(text.partition("\n\n")[0].split())
    found = []
    for call in node.decorator_list:
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in makers and call.args:
            told = {word.arg: read(word.value) for word in call.keywords if word.arg}
            of = told.get("of") or makers[call.func.id]
            found.append(Advice(read(call.args[0]), of, message, text, told.get("question") or None))
    return found
