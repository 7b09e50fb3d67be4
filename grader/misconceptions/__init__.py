"""Wrong answers as code. ``@misconception`` marks a function or class as one; see grader/README.md, "How to write a misconception"."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Misconception:
    """One wrong idea: what it replaces, what a learner reads of it, and the code that has it."""

    id: str
    of: str
    message: str
    advice: str
    code: Any
    extends: str | None = None
    question: str | None = None
    hint: str | None = None
    at: str = "exact"


def misconception(id: str, *, of: str, extends: str | None = None, question: str | None = None, hint: str | None = None, at: str = "exact") -> Callable[[T], T]:
    """Mark a function or class as the misconception ``id`` of the exercise's ``of``."""

    def mark(code: T) -> T:
        text = inspect.cleandoc(getattr(code, "__doc__", None) or "")
        message = " ".join(text.partition("\n\n")[0].split())
        found = Misconception(id, of, message, text, code, extends, question, hint, at)
        code.attngrade_misconceptions = *getattr(code, "attngrade_misconceptions", ()), found  # type: ignore[attr-defined]
        return code

    return mark


def listed(module: Any) -> list[Misconception]:
    """The misconceptions of a module, in the order in which they stand there."""
    found = [item for value in list(vars(module).values()) for item in getattr(value, "attngrade_misconceptions", ()) if hasattr(value, "attngrade_misconceptions")]
    return list({item.id: item for item in found}.values())
