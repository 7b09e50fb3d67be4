"""The verdict for a person at a terminal: the mistake first, its evidence second, everything else in a line."""

from __future__ import annotations

import re
import textwrap

import click

from ..verdict import CheckResult, Outcome, Reason, Verdict, Word
from .evidence import broken_rules, parted, rows
from .text import tame

# The colours are those that can be read on black and on white; yellow and cyan can't.
MARKS = {Word.PASSED: ("✓", "green"), Word.PROVISIONAL: ("◐", "reset"), Word.FAILED: ("✗", "red"), Word.ERROR: ("!", "magenta")}
_SPEAKS = re.compile(r"raised NotImplementedError(?: \(line \d+\))?: (\w+)|does not define `(\w+)`")  # a stub's own text begins with its name
UNSEEN = "ot verified here"
REASONS = {
    Reason.NOT_IMPLEMENTED: "Not written yet.", Reason.NO_GPU: "The arithmetic is right; the kernel has not met a GPU yet.",
    Reason.RULE_BROKEN: "A rule of the exercise is broken.", Reason.TIMEOUT: "The time limit ran out: look for a loop that never ends, or one over every element.",
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
        first, *rest = tame(value, lines=12, width=240).split("\n")
        head = " " * indent + self.style(f"{name:<8}", dim=True)
        room = max(20, self.width - indent - 8)
        wrapped = [textwrap.wrap(line, room, drop_whitespace=False, break_on_hyphens=False) or [""] for line in (first, *rest)]
        pieces = [piece if place == 0 else piece.lstrip() for line in wrapped for place, piece in enumerate(line)]
        self.lines += [((head if i == 0 else " " * (indent + 8)) + piece).rstrip() for i, piece in enumerate(pieces)]


def as_text(verdicts: list[Verdict], *, colour: bool, width: int, closing: str | None = None) -> str:
    """Several verdicts: a line each, then the details of the first that isn't passed. One verdict: its details. ``closing`` stands in place of the next command to type."""
    page = Page(colour, width)
    if len(verdicts) > 1:
        for verdict in verdicts:
            headline(page, verdict)
        page.add()
    shown = sorted((v for v in verdicts if v.word is not Word.PASSED or len(verdicts) == 1), key=_last)
    if shown:
        details(page, shown[0], closing)
    return "\n".join(page.lines).rstrip()


def _last(verdict: Verdict) -> int:
    """Which of several is shown whole: what failed before what isn't written, and that before what only lacks a GPU."""
    return 2 if verdict.word is Word.PROVISIONAL else int(verdict.reason is Reason.NOT_IMPLEMENTED)


def headline(page: Page, verdict: Verdict) -> None:
    """One line: mark, exercise, verdict, points."""
    mark, colour = MARKS[verdict.word]
    points = f"{verdict.word}  {verdict.score:g}/{verdict.max_score:g}" if verdict.checks else str(verdict.word)
    page.spread(f"{mark} {verdict.exercise}  {verdict.title}", points, fg=colour, bold=True)


def details(page: Page, verdict: Verdict, closing: str | None = None) -> None:
    """Everything about one verdict."""
    headline(page, verdict)
    for sentence in sentences(verdict):
        page.add(sentence, 2)
    if verdict.line_shown:
        page.add(f"{verdict.line:>4} | {verdict.line_shown}", 2)
    for functions, message in told_once(verdict):
        page.add()
        page.add(f"In {', '.join(functions)}:", 2, bold=True) if functions else None
        advice(page, message)
    _evidence(page, verdict)
    _rest(page, verdict)
    _printed(page, verdict)
    page.add()
    note = f" ({verdict.isolation_note})" if verdict.isolation_note else ""
    jail = f"jail: {verdict.isolation}{note}" if verdict.isolation != "process" else f"no jail: your code ran as a plain process{note}"
    page.add(f"{jail} · {verdict.device} · seed {verdict.seed} · {verdict.duration_s:.1f} s", 2, dim=True)
    if closing != "":
        page.add(closing or next_step(verdict), 2)


def sentences(verdict: Verdict) -> list[str]:
    """What comes first: why nothing ran, which rule is broken, which limit was met."""
    if verdict.reason is Reason.NOT_IMPLEMENTED:
        return []
    rules = broken_rules(verdict)
    told = verdict.message or ("" if rules and verdict.reason is Reason.RULE_BROKEN else REASONS.get(verdict.reason, "") if verdict.reason else "")
    lost = sum(check.reason is Reason.RULE_BROKEN for check in verdict.failed)
    cost = [f"{'That costs' if len(rules) == 1 else 'These cost'} {lost} check{'s' if lost != 1 else ''}."] if lost else []
    return [sentence for sentence in (told, *rules, *cost) if sentence]


def told_once(verdict: Verdict) -> list[tuple[list[str], str]]:
    """What was named, with the functions that it was named in: one that others call is heard in all of them, and said once, whichever of them it names."""
    functions = sorted({named.function for named in verdict.misconceptions} - {""}, key=len, reverse=True)
    any_of_them = re.compile(rf"\b(?:{'|'.join(map(re.escape, functions))})\b") if functions else re.compile("(?!)")
    said: dict[str, tuple[list[str], str]] = {}
    for named in verdict.misconceptions:
        heard, _ = said.setdefault(any_of_them.sub("·", named.message), ([], named.message))
        heard += [named.function] if named.function else []
    return list(said.values())


def advice(page: Page, text: str) -> None:
    """A misconception's docstring: its first paragraph, then Example, Why, Look at, each on lines of their own."""
    for paragraph in re.split(r"\n\s*\n|\n(?=(?:Example|Why|Look at|Likewise|Instead):)", text):
        page.add(" ".join(paragraph.split()), 4)


def _evidence(page: Page, verdict: Verdict) -> None:
    whole, same, others = parted(check for check in verdict.failed if check.reason not in (Reason.NOT_IMPLEMENTED, Reason.RULE_BROKEN))
    for check in whole:
        page.add()
        _check(page, check)
    if same:
        page.add()
        page.add(f"{len(same)} more failed for {'these reasons' if len(whole) > 1 else 'this reason'}.", 2)
    if others:
        page.add()
        page.add(f"and {len(others)} more that failed:", 2)
    for check in others:
        page.lines.append("  " + page.style(f"✗ {textwrap.shorten(tame(check.title), page.width - 4, placeholder='…')}", fg="red"))


def _check(page: Page, check: CheckResult) -> None:
    lost = f"{check.max_points - check.points:g} point{'s' if check.max_points - check.points != 1 else ''}{', stretch' if check.stretch else ''}"
    page.add(f"✗ {check.title} ({lost})", 2, fg="red")
    for name, value in rows(check, page.width - 16):
        if name:
            page.pair(name, value, 6)
        else:
            page.add(value, 6)


def _rest(page: Page, verdict: Verdict) -> None:
    unwritten = not_written(verdict)
    if unwritten:
        page.add()
        page.add(f"Not written yet: {', '.join(unwritten)}.", 2)
        missing = next((check.message for check in verdict.checks if "does not define" in check.message), "")
        page.add(missing, 2) if missing else None
    unseen = [check for check in verdict.checks if check.outcome is Outcome.SKIPPED and UNSEEN in check.message]
    if unseen and verdict.word is Word.PROVISIONAL:
        page.add()
        page.add("Not verified here (these need a CUDA device):", 2)
        for check in unseen:
            page.add(f"– {check.title}", 4)
    if verdict.checks:
        page.add()
        page.add(counted(verdict), 2, dim=True)


def not_written(verdict: Verdict) -> list[str]:
    """The functions that are still a stub, in the order of the exercise; none where the file doesn't load."""
    known = {name for check in verdict.checks for name in check.functions}
    names = [_stub(check, known) for check in verdict.checks if check.reason is Reason.NOT_IMPLEMENTED and check.functions]
    return [] if verdict.reason is Reason.LOAD_ERROR else list(dict.fromkeys(names))


def _stub(check: CheckResult, known: set[str]) -> str:
    """Whose stub a check met: the one that speaks of itself, else the function that was called; a check may be about several that are written."""
    evidence = check.evidence
    speaks = _SPEAKS.search(evidence.raised if evidence else check.message)
    name = (speaks[1] or speaks[2]) if speaks else ""
    if name in known:
        return name
    return evidence.function if evidence and evidence.function in known else check.functions[0]


def counted(verdict: Verdict) -> str:
    """How many checks passed, and what became of those that nothing else tells of."""
    number, passed = len(verdict.checks), sum(check.outcome is Outcome.PASSED for check in verdict.checks)
    if verdict.reason is Reason.LOAD_ERROR and not passed:
        return f"None of the {number} checks could run."
    if not_written(verdict) and all(check.reason is Reason.NOT_IMPLEMENTED for check in verdict.failed):
        return f"{passed} of {number} checks passed so far."
    skipped = [check.message for check in verdict.checks if check.outcome is Outcome.SKIPPED]
    late, unseen = sum(text.startswith("Did not run") for text in skipped), sum(UNSEEN in text for text in skipped)
    follow = len(skipped) - late - unseen
    told = [f"{passed} of {number} checks passed"]
    told += [f"{follow} depend{'s' if follow == 1 else ''} on what failed"] if follow else []
    told += [f"{late} did not run"] if late else []
    told += [f"{unseen} need{'s' if unseen == 1 else ''} a CUDA device"] if unseen and verdict.word is Word.FAILED else []
    return ", ".join(told) + "."


def _printed(page: Page, verdict: Verdict) -> None:
    if verdict.output.strip() and verdict.word is not Word.PASSED:
        page.add()
        page.add("Your code printed:", 2)
        for line in tame(verdict.output.strip(), lines=12, width=300).split("\n"):
            first, *rest = textwrap.wrap(line, page.width - 4, drop_whitespace=False, break_on_hyphens=False) or [""]
            page.lines += [("  " + page.style(f"| {piece}", dim=True)).rstrip() for piece in (first, *(each.lstrip() for each in rest))]


def next_step(verdict: Verdict) -> str:
    """The next command to type."""
    if verdict.word is Word.FAILED:
        if verdict.reason is Reason.LOAD_ERROR:
            return f"Next: mend line {verdict.line} and save the file." if verdict.line else "Next: mend the file and save it."
        if verdict.reason is Reason.NOT_IMPLEMENTED and (unwritten := not_written(verdict)):
            return f"Next: write {unwritten[0]}. `attngrade hint {verdict.exercise}` helps."
        return f"Next: attngrade hint {verdict.exercise}"
    if verdict.word is Word.PROVISIONAL:
        return f"Next: run the same command on a machine with a CUDA device, or go on: attngrade solution {verdict.exercise}"
    return f"Next: attngrade solution {verdict.exercise}" if verdict.word is Word.PASSED else "Next: attngrade doctor"
