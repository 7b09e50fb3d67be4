"""A candidate's typed answers, out of ``answers.yaml`` (or a Markdown file with a heading per question), and their marks."""

from __future__ import annotations

import re
from typing import Any

import yaml

from .returns import Return

NAMES = ("answers.yaml", "answers.yml", "answers.md")
TEXT_CAP = 20_000
FILE_CAP = 200_000


class _Plain(yaml.BaseLoader):
    """Strings, mappings and lists alone: no aliases (they multiply), no typed scalars (``no`` stays a word)."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not used in answers")
        return super().compose_node(parent, index)


def read_answers(given: Return, questions: tuple[str, ...]) -> tuple[dict[str, str], str]:
    """The answers by question, and a sentence if there is something the team should know."""
    found = sorted((name for name in given.files if name.rpartition("/")[2].lower() in NAMES), key=lambda name: (name.count("/"), name))
    if not found:
        return {}, "There is no answers.yaml." if questions else ""
    try:
        text = given.files[found[0]][:FILE_CAP].decode("utf-8", "strict" if len(given.files[found[0]]) <= FILE_CAP else "ignore")
    except UnicodeDecodeError:
        return {}, f"{found[0]} is not UTF-8 text."
    if found[0].lower().endswith(".md"):
        return _from_markdown(text, questions), ""
    try:
        table = yaml.load(text, _Plain)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        rescued = _from_text(text, questions)
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = f" at line {line + 1}" if line is not None else ""
        return rescued, f"{found[0]} is not valid YAML{where}; {len(rescued)} answers were read from its text all the same."
    if not isinstance(table, dict):
        return {}, f"{found[0]} is not a mapping from question to answer."
    unknown = sorted(str(key)[:60] for key in table if key not in questions)
    told = f"{found[0]} answers what wasn't asked: {', '.join(unknown[:5])}." if unknown else ""
    read = {name: _text(table[name]) for name in questions if name in table}
    if unknown and not all(read.values()):  # an answer that wasn't indented reads as more keys
        by_eye = _from_text(text, questions)
        read = {name: answer or by_eye.get(name, "") for name, answer in read.items()}
    return read, told


def _text(value: Any) -> str:
    return value[:TEXT_CAP].strip() if isinstance(value, str) else "" if value is None else str(value)[:TEXT_CAP].strip()


def _from_text(text: str, questions: tuple[str, ...]) -> dict[str, str]:
    """``name: |`` blocks read by eye, where YAML gave up (an answer that isn't indented, say)."""
    return _split(text, questions, r"^(%s):[ \t]*+[|>]?[-+]?[ \t]*+$|^(%s):[ \t]++")


def _from_markdown(text: str, questions: tuple[str, ...]) -> dict[str, str]:
    return _split(text, questions, r"^#{1,6}[ \t]*(%s)\b.*$|^\*\*(%s)\*\*:?[ \t]*")


def _split(text: str, questions: tuple[str, ...], pattern: str) -> dict[str, str]:
    if not questions:
        return {}
    names = "|".join(map(re.escape, questions))
    marks = list(re.finditer(pattern % (names, names), text, re.M))
    ends = [*(mark.start() for mark in marks), len(text)][1:]
    found = {}
    for mark, end in zip(marks, ends, strict=True):
        body = [line.removeprefix("  ") for line in text[mark.end() : end].splitlines() if not line.lstrip().startswith("# ")]
        found[mark.group(1) or mark.group(2)] = "\n".join(body).strip()[:TEXT_CAP]
    return found
