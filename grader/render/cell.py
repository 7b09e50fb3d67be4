"""The verdict as a piece of HTML below a notebook's cell: the mistake first, everything from elsewhere escaped, no script."""

from __future__ import annotations

import re

from ..verdict import CheckResult, Outcome, Reason, Verdict, Word
from .html import environment
from .terminal import MARKS, REASONS, came, where
from .text import shown_array, tame


def as_html(verdict: Verdict) -> str:
    """One verdict."""
    failed = [check for check in verdict.failed if check.reason is not Reason.NOT_IMPLEMENTED]
    unwritten = sorted({name for check in verdict.checks if check.reason is Reason.NOT_IMPLEMENTED for name in check.functions[:1]})
    unseen = [check for check in verdict.checks if check.outcome is Outcome.SKIPPED and "ot verified here" in check.message]
    silent = verdict.reason is Reason.NOT_IMPLEMENTED
    sentence = "" if silent else verdict.message or (REASONS.get(verdict.reason, "") if verdict.reason else "")
    note = f" ({verdict.isolation_note})" if verdict.isolation_note else ""
    return environment().get_template("verdict.html.j2").render(
        verdict=verdict, mark=MARKS[verdict.word][0], sentence=sentence, failed=failed, unseen=unseen,
        unwritten=[] if verdict.reason is Reason.LOAD_ERROR else unwritten, printed=tame(verdict.output.strip(), lines=40, width=300),
        passed=sum(check.outcome is Outcome.PASSED for check in verdict.checks), paragraphs=paragraphs, evidence=evidence,
        jail=f"jail: {verdict.isolation}{note}" if verdict.isolation != "process" else f"no jail: your code ran as a plain process{note}",
        next_step=next_step(verdict),
    )  # fmt: skip


def paragraphs(text: str) -> list[str]:
    """A misconception's advice: its first paragraph, then Example, Why, Look at."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n|\n(?=(?:Example|Why|Look at|Likewise|Instead):)", text) if part.strip()]


def evidence(check: CheckResult) -> list[tuple[str, str]]:
    """What a failed check saw, row by row."""
    seen = check.evidence
    if seen is None:
        return []
    rows = [
        ("", seen.because), ("asked", seen.case), ("input", seen.arguments), ("came", came(seen)), ("right", shown_array(seen.want)), ("where", where(seen)),
    ]  # fmt: skip
    return rows if any(value for name, value in rows if name in ("came", "right", "where")) else [*rows, ("", check.message)]


def next_step(verdict: Verdict) -> str:
    """The next magic to type."""
    if verdict.word is Word.FAILED:
        return f"%attngrade hint {verdict.exercise}"
    if verdict.word is Word.PROVISIONAL:
        return f"run this cell where there is a CUDA device (in Colab: Runtime, Change runtime type, GPU), or %attngrade solution {verdict.exercise}"
    return f"%attngrade solution {verdict.exercise}" if verdict.word is Word.PASSED else "%attngrade doctor"
