"""The verdict as a piece of HTML below a notebook's cell: the mistake first, everything from elsewhere escaped, no script."""

from __future__ import annotations

import re

from ..verdict import Outcome, Reason, Verdict, Word
from .evidence import parted, rows
from .html import environment
from .terminal import MARKS, UNSEEN, counted, not_written, sentences, told_once
from .text import tame


def as_html(verdict: Verdict) -> str:
    """One verdict."""
    whole, same, others = parted(check for check in verdict.failed if check.reason not in (Reason.NOT_IMPLEMENTED, Reason.RULE_BROKEN))
    unseen = [check for check in verdict.checks if check.outcome is Outcome.SKIPPED and UNSEEN in check.message]
    note = f" ({verdict.isolation_note})" if verdict.isolation_note else ""
    return environment().get_template("verdict.html.j2").render(
        verdict=verdict, mark=MARKS[verdict.word][0], sentences=sentences(verdict), failed=whole, same=len(same), others=others,
        unseen=unseen if verdict.word is Word.PROVISIONAL else [], unwritten=not_written(verdict), printed=tame(verdict.output.strip(), lines=40, width=300),
        named=told_once(verdict), counted=counted(verdict), paragraphs=paragraphs, evidence=rows,
        jail=f"jail: {verdict.isolation}{note}" if verdict.isolation != "process" else f"no jail: your code ran as a plain process{note}",
        next_step=next_step(verdict),
    )  # fmt: skip


def paragraphs(text: str) -> list[str]:
    """A misconception's advice: its first paragraph, then Example, Why, Look at."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n|\n(?=(?:Example|Why|Look at|Likewise|Instead):)", text) if part.strip()]


def next_step(verdict: Verdict) -> str:
    """The next magic to type."""
    if verdict.reason is Reason.LOAD_ERROR:
        return "mend " + (f"line {verdict.line}" if verdict.line else "the cell") + " and run the cell again"
    if verdict.word is Word.FAILED:
        return f"%attngrade hint {verdict.exercise}"
    if verdict.word is Word.PROVISIONAL:
        return f"run this cell where there is a CUDA device (in Colab: Runtime, Change runtime type, GPU), or %attngrade solution {verdict.exercise}"
    return f"%attngrade solution {verdict.exercise}" if verdict.word is Word.PASSED else "%attngrade doctor"
