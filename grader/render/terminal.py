"""The verdict for a person at a terminal: the mistake first, its evidence second, everything else in a line."""

from __future__ import annotations

import re
import textwrap

import click

from ..verdict import CheckResult, Evidence, Outcome, Reason, Verdict, Word
from .text import shown_array, tame

MARKS = {Word.PASSED: ("✓", "green"), Word.PROVISIONAL: ("◐", "yellow"), Word.FAILED: ("✗", "red"), Word.ERROR: ("!", "magenta")}
DETAILED = 2
REASONS = {
    Reason.NOT_IMPLEMENTED: "Not written yet.", Reason.NO_GPU: "The arithmetic is right; the kernel has not met a GPU yet.",
    Reason.RULE_BROKEN: "A rule of the exercise is broken.", Reason.TIMEOUT: "The time limit ran out.",
    Reason.MEMORY: "The memory limit was met.", Reason.CRASH: "The submission's process ended early.",
}


class Page:
    """Lines of a given width, coloured or not."""

    def __init__(self, colour: bool, width: int):
        self.colour, self.width = colour, width
        self.lines: list[str] = []

    def style(self, text: str, **how: object) -> str:
        """Coloured where the terminal takes colours."""
        return click.style(text, **how) if self.colour else text  # type: ignore[arg-type]

    def add(self, text: str = "", indent: int = 0, **how: object) -> None:
        """Wrapped lines at an indent; a line that starts with spaces of its own keeps them."""
        for line in tame(text).split("\n"):
            pieces = textwrap.wrap(line, max(20, self.width - indent), break_long_words=True, break_on_hyphens=False) or [""]
            self.lines += [(" " * indent + self.style(piece, **how)).rstrip() for piece in pieces]

    def spread(self, left: str, right: str, **how: object) -> None:
        """One line with something at each end; two lines where it is too narrow."""
        gap = self.width - len(left) - len(right)
        self.lines.append(self.style(left + " " * gap + right, **how) if gap > 0 else self.style(f"{left}\n    {right}", **how))

    def pair(self, name: str, value: str, indent: int) -> None:
        """A named value; its further lines stand under the first."""
        if not value:
            return
        first, *rest = tame(value, lines=12, width=400).split("\n")
        head = " " * indent + self.style(f"{name:<8}", dim=True)
        room = max(20, self.width - indent - 8)
        wrapped = [textwrap.wrap(line, room, drop_whitespace=False) or [""] for line in (first, *rest)]
        pieces = [piece if place == 0 else piece.lstrip() for line in wrapped for place, piece in enumerate(line)]
        self.lines += [(head if i == 0 else " " * (indent + 8)) + piece for i, piece in enumerate(pieces)]


def as_text(verdicts: list[Verdict], *, colour: bool, width: int) -> str:
    """Several verdicts: a line each, then the details of the first that isn't passed. One verdict: its details."""
    page = Page(colour, width)
    if len(verdicts) > 1:
        for verdict in verdicts:
            headline(page, verdict)
        page.add()
    shown = next((v for v in verdicts if v.word not in (Word.PASSED, Word.PROVISIONAL)), None) or next((v for v in verdicts if v.word is not Word.PASSED), None)
    if shown is None:
        shown = verdicts[0] if len(verdicts) == 1 else None
    if shown is not None:
        details(page, shown)
    return "\n".join(page.lines).rstrip()


def headline(page: Page, verdict: Verdict) -> None:
    """One line: mark, exercise, verdict, points."""
    mark, colour = MARKS[verdict.word]
    points = f"{verdict.word}  {verdict.score:g}/{verdict.max_score:g}" if verdict.checks else str(verdict.word)
    page.spread(f"{mark} {verdict.exercise}  {verdict.title}", points, fg=colour, bold=True)


def details(page: Page, verdict: Verdict) -> None:
    """Everything about one verdict."""
    headline(page, verdict)
    sentence = verdict.message or (REASONS.get(verdict.reason, "") if verdict.reason else "")
    if sentence and verdict.reason is not Reason.NOT_IMPLEMENTED:
        page.add(sentence, 2)
    if verdict.line_shown:
        page.add(f"{verdict.line:>4} | {verdict.line_shown}", 2)
    for named in verdict.misconceptions:
        page.add()
        page.add(f"In {named.function}:" if named.function else "", 2, bold=True)
        advice(page, named.message)
    _evidence(page, verdict)
    _rest(page, verdict)
    _printed(page, verdict)
    page.add()
    note = f" ({verdict.isolation_note})" if verdict.isolation_note else ""
    jail = f"jail: {verdict.isolation}{note}" if verdict.isolation != "process" else f"no jail: your code ran as a plain process{note}"
    page.add(f"{jail} · {verdict.device} · seed {verdict.seed} · {verdict.duration_s:.1f} s", 2, dim=True)
    page.add(next_step(verdict), 2)


def advice(page: Page, text: str) -> None:
    """A misconception's docstring: its first paragraph, then Example, Why, Look at, each on lines of their own."""
    for paragraph in re.split(r"\n\s*\n|\n(?=(?:Example|Why|Look at|Likewise|Instead):)", text):
        page.add(" ".join(paragraph.split()), 4)


def _evidence(page: Page, verdict: Verdict) -> None:
    failed = [check for check in verdict.failed if check.reason is not Reason.NOT_IMPLEMENTED]
    for place, check in enumerate(failed):
        if place == DETAILED:
            page.add()
            page.add(f"and {len(failed) - DETAILED} more that failed:", 2)
        if place >= DETAILED:
            page.lines.append("  " + page.style(f"✗ {textwrap.shorten(tame(check.title), page.width - 4, placeholder='…')}", fg="red"))
            continue
        page.add()
        _check(page, check)


def _check(page: Page, check: CheckResult) -> None:
    lost = f"{check.max_points - check.points:g} point{'s' if check.max_points - check.points != 1 else ''}{', stretch' if check.stretch else ''}"
    page.add(f"✗ {check.title} ({lost})", 2, fg="red")
    seen = check.evidence
    if seen is None:
        page.add(check.message, 6)
        return
    if seen.because:
        page.add(seen.because, 6)
    page.pair("asked", seen.case, 6)
    page.pair("input", seen.arguments, 6)
    page.pair("came", came(seen), 6)
    page.pair("right", shown_array(seen.want, width=page.width - 16), 6)
    page.pair("where", where(seen), 6)
    told = check.message.endswith((f"{seen.note}.", f"{seen.note} ({seen.case})."))  # nothing that the rows above don't say
    symptom = check.message.rpartition(". ")[2] if seen.note and not told else ""
    page.add(check.message if not (seen.note or seen.raised) else symptom_of(check.message, seen) or symptom, 6)


def came(seen: Evidence) -> str:
    """What came back, or what was raised."""
    return seen.raised or (f"{seen.note}" if seen.got is None else shown_array(seen.got))


def symptom_of(message: str, seen: Evidence) -> str:
    """What a check's message says beyond its evidence."""
    for marker in (f"({seen.case}). " if seen.case else "", f"{seen.note}. " if seen.note else ""):
        if marker and marker in message:
            return message.partition(marker)[2]
    return ""


def where(seen: Evidence) -> str:
    """At which index, and how far."""
    if seen.got is None:
        return ""
    if seen.index is None:
        return seen.note
    place = ", ".join(map(str, seen.index))
    return f"[{place}]: {seen.got_at}, right is {seen.want_at}; {seen.note}" if seen.index else seen.note


def _rest(page: Page, verdict: Verdict) -> None:
    unwritten = sorted({name for check in verdict.checks if check.reason is Reason.NOT_IMPLEMENTED for name in check.functions[:1]}, key=str)
    if unwritten and verdict.reason is not Reason.LOAD_ERROR:
        page.add()
        page.add(f"Not written yet: {', '.join(unwritten)}.", 2)
        missing = next((check.message for check in verdict.checks if "does not define" in check.message), "")
        page.add(missing, 2) if missing else None
    skipped = [check for check in verdict.checks if check.outcome is Outcome.SKIPPED]
    unseen = [check for check in skipped if "ot verified here" in check.message]
    if unseen:
        page.add()
        page.add("Not verified here (these need a CUDA device):", 2)
        for check in unseen:
            page.add(f"– {check.title}", 4)
    follow = len(skipped) - len(unseen)
    passed = sum(check.outcome is Outcome.PASSED for check in verdict.checks)
    if verdict.checks:
        page.add()
        told = f"{passed} of {len(verdict.checks)} checks passed" + (f", {follow} follow{'s' if follow == 1 else ''} from the failures above or did not run" if follow else "")
        page.add(told + ".", 2, dim=True)


def _printed(page: Page, verdict: Verdict) -> None:
    if verdict.output.strip() and verdict.word is not Word.PASSED:
        page.add()
        page.add("Your code printed:", 2)
        for line in tame(verdict.output.strip(), lines=12, width=300).split("\n"):
            page.add(f"| {line}", 2, dim=True)


def next_step(verdict: Verdict) -> str:
    """The next command to type."""
    if verdict.word is Word.FAILED:
        return f"Next: attngrade hint {verdict.exercise}"
    if verdict.word is Word.PROVISIONAL:
        return f"Next: run the same command on a machine with a CUDA device, or go on: attngrade solution {verdict.exercise}"
    return f"Next: attngrade solution {verdict.exercise}" if verdict.word is Word.PASSED else "Next: attngrade doctor"
