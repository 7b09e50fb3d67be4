"""The options of a choice as they are shown: in an order that gives nothing away, behind letters."""

from __future__ import annotations

import hashlib
import string

from .question import Option, Question


def laid_out(question: Question, turn: int = 0) -> list[tuple[str, Option]]:
    """Letters and options. The order depends on the question and the turn alone; that of an `order` question is never the right one."""
    options = sorted(question.options, key=lambda option: _lot(f"{question.id}/{turn}/{option.id or option.text}"))
    if question.kind == "order" and len(options) > 1 and options == list(question.options):
        options = [*options[1:], options[0]]
    return list(zip(string.ascii_lowercase, options, strict=False))


def right_letters(question: Question, turn: int = 0) -> str:
    """The letters of a right answer, in order."""
    letters = {option.id: letter for letter, option in laid_out(question, turn)}
    return " ".join(letters[option.id] for option in question.options if option.correct or question.kind == "order")


def from_letters(question: Question, typed: str, turn: int = 0) -> str:
    """What was typed with letters replaced by the ids of the options behind them; anything else stays as it is."""
    if not question.options:
        return typed
    ids = {letter: option.id for letter, option in laid_out(question, turn)}
    words = typed.lower().replace(",", " ").replace(")", " ").replace(">", " ").replace("→", " ").split()
    if len(words) == 1 and len(words[0]) > 1 and set(words[0]) <= set(ids):
        words = list(words[0])
    return " ".join(ids[word] for word in words) if words and all(word in ids for word in words) else typed


def _lot(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
