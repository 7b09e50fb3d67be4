"""The options of a choice as they are shown: by their own letters, so that marks and notes can speak of them."""

from __future__ import annotations

from .question import Option, Question


def laid_out(question: Question) -> list[Option]:
    """Options in the order of their letters. The author of an `order` question gives letters that don't tell the order."""
    return sorted(question.options, key=lambda option: option.id)


def right_options(question: Question) -> list[Option]:
    """The right options; for an `order` question all of them, in the right order."""
    return [option for option in question.options if option.correct or question.kind == "order"]
