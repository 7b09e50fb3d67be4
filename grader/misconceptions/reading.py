"""What misconceptions say, read from their files without running them: no torch is imported for a hint."""

from __future__ import annotations

import ast
import inspect
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
    found: dict[str, Advice] = {}
    for file in (path, *sorted(path.parent.glob(f"{path.stem}_*.py"))):
        try:
            tree = ast.parse(file.read_text(encoding="utf-8"))
        except (OSError, SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found |= {item.id: item for item in _decorated(node)}
    return found


def _decorated(node: ast.FunctionDef | ast.ClassDef) -> list[Advice]:
    text = inspect.cleandoc(ast.get_docstring(node) or "")
    message = " ".join(text.partition("\n\n")[0].split())
    found = []
    for call in node.decorator_list:
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "misconception" and call.args:
            told = {word.arg: str(word.value.value) for word in call.keywords if isinstance(word.value, ast.Constant) and word.arg}
            name = call.args[0].value if isinstance(call.args[0], ast.Constant) else ""
            found.append(Advice(str(name), str(told.get("of", "")), message, text, told.get("question"), told.get("hint")))
    return found
