"""A batch's points as Moodle takes them in: a table for the gradebook's CSV import, or an assignment's own grading worksheet filled in.

What Moodle does with such a file (grade/import/csv and mod/assign/feedback/offline): one unknown user ends the whole import, so a return that can't
be told whose it is stays out, with a remark; grades above 100 are refused by default; a worksheet is read by its columns Identifier, Grade and
Last modified (grade), and whatever stands in the others is left alone.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from html import escape
from pathlib import Path
from typing import Any

from ..errors import UsageProblem
from ..render.text import tame
from .pages import asked, plain_cell

HEADINGS = {"email": "Email address", "username": "Username", "idnumber": "ID number"}
IDENTIFIER, FULL_NAME, GRADE, MODIFIED, COMMENTS = "Identifier", "Full name", "Grade", "Last modified (grade)", "Feedback comments"
DOWNLOADED = re.compile(r"^(?P<name>.+?)_(?P<number>\d+)_assignsubmission_")  # as Moodle names what it gives out
SHARE_DIGITS = 5
UNGRADED = "the grader failed on it; grade the batch again"
BEHIND_SEMICOLON = re.compile(r"(; *+)([=+@＝＋＠－-][=+@＝＋＠－ -]*+)")
Records = list[dict[str, Any]]


def gradebook(records: Records, title: str, by: str, out_of: float, roster: dict[str, str] | None = None) -> tuple[str, list[str]]:
    """A CSV for the gradebook (identifier, total, each part, feedback), and a remark for every return that is left out."""
    known = {told["candidate"]: roster.get(told["candidate"], "") if roster is not None else told["candidate"] for told in records}
    times = Counter(name.casefold() for name in known.values() if name)
    remarks, rows = [], []
    for told in records:
        problem = UNGRADED if told.get("fault") else _unfit(known[told["candidate"]], by, times, roster is not None)
        if problem:
            remarks.append(f"{tame(told['candidate'], lines=1)} is left out: {problem}.")
        else:
            rows.append([known[told["candidate"]], points(told["score"], told["max_score"], out_of), *_parts(told, out_of), feedback(told)])
    names = [name for kind in asked(records) for name in kind]
    head: list[Any] = [HEADINGS[by], title, *names, "Feedback"]
    return _table([[plain_cell(cell) for cell in row] for row in (head, *rows)]), remarks


def _unfit(name: str, by: str, times: Counter[str], listed: bool) -> str:
    """Why a return can't be given to this user, or empty."""
    if not name:
        return "the roster doesn't name it" if listed else "it has no name"
    if by == "email" and not re.fullmatch(r"[^@\s]+@[^@\s]+", name):
        return f"{tame(name, lines=1)!r} is no email address (--roster FILE says whose returns these are)"
    if plain_cell(name) != name:
        return f"{tame(name, lines=1)!r} is no {HEADINGS[by].lower()} that a spreadsheet leaves alone"
    return f"{times[name.casefold()]} returns are of {name}: keep one" if times[name.casefold()] > 1 else ""


def points(score: float, most: float, out_of: float) -> float:
    """A score on the gradebook's scale."""
    return round(out_of * score / most, SHARE_DIGITS) if most else 0.0


def _parts(told: dict[str, Any], out_of: float) -> list[float]:
    return [points(part["score"], part.get("max_score") or 1.0, out_of) for part in (*told["exercises"], *told["answers"])]


def feedback(told: dict[str, Any]) -> str:
    """What the candidate may read of his verdicts, as HTML with everything that came from outside escaped; remarks for the team stay out."""
    lines = [told["problem"]] if told["problem"] else []
    for part in told["exercises"]:
        named = [" ".join(item["message"].partition("\n\n")[0].split()) for item in part["misconceptions"]]
        review = [f"Reviewer: {part['review']}"] if part.get("review") else []
        lines.append(" ".join([f"{part['title']}: {part['verdict']}, {part['score']:g} of {part['max_score']:g}.", *named, *review]))
    for answer in told["answers"]:
        lines.append(f"{answer['question']}: {answer['score']:.0%}." + (f" Reviewer: {answer['review']}" if answer.get("review") else ""))
    return BEHIND_SEMICOLON.sub(_as_entities, "<br>".join(escape(tame(line, lines=1)) for line in lines))


def _as_entities(found: re.Match[str]) -> str:
    """What a spreadsheet would take for a formula behind a semicolon, as a browser shows it all the same."""
    return found[1] + re.sub(r"\S", lambda char: f"&#{ord(char[0])};", found[2])


def worksheet(records: Records, text: str, out_of: float) -> tuple[str, list[str]]:
    """An assignment's grading worksheet with grades and comments filled in, and a remark for every return that it has no row for. Raises UsageProblem."""
    rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))
    head = rows[0] if rows else []
    if missing := [name for name in (IDENTIFIER, GRADE, MODIFIED) if name not in head]:
        raise UsageProblem(f"The worksheet has no column {' or '.join(missing)}. Download it from the assignment: View all submissions, Download grading worksheet.")
    if COMMENTS not in head:  # the assignment takes no comments: grades alone
        head = [*head, COMMENTS]
    found, remarks = _whose(records, rows, head)
    filled = []
    for number, row in enumerate(rows[1:], 1):
        cells = dict(zip(head, [*row, *[""] * len(head)], strict=False))
        if number in found:
            told = found[number]
            cells |= {GRADE: f"{points(told['score'], told['max_score'], out_of):g}", COMMENTS: plain_cell(feedback(told))}
        filled.append([cells[name] for name in head])
    return _table([head, *filled]), remarks  # what was there stays to the letter


def _whose(records: Records, rows: list[list[str]], head: list[str]) -> tuple[dict[int, dict[str, Any]], list[str]]:
    """Row number -> record, by the participant's number in the name that Moodle gave the download, or by the full name where that is unique."""
    column = head.index(IDENTIFIER)
    numbers = {digits.group(): place for place, row in enumerate(rows[1:], 1) if len(row) > column and (digits := re.search(r"\d+$", row[column]))}
    names: dict[str, list[int]] = {}
    if FULL_NAME in head:
        for place, row in enumerate(rows[1:], 1):
            names.setdefault(_plain(row[head.index(FULL_NAME)]) if len(row) > head.index(FULL_NAME) else "", []).append(place)
    matches: dict[int, Records] = {}
    remarks = []
    for told in records:
        if told.get("fault"):
            remarks.append(f"{tame(told['candidate'], lines=1)} is left out: {UNGRADED}.")
            continue
        label = DOWNLOADED.match(told["candidate"] + "_assignsubmission_" if "_assignsubmission_" not in told["candidate"] else told["candidate"])
        places = [numbers[label["number"]]] if label and label["number"] in numbers else names.get(_plain(told["candidate"]), [])
        if len(places) == 1:
            matches.setdefault(places[0], []).append(told)
        else:
            remarks.append(f"{tame(told['candidate'], lines=1)} is left out: the worksheet has {len(places) or 'no'} rows for that name.")
    for group in matches.values():
        if len(group) > 1:
            remarks.append(f"{' and '.join(tame(told['candidate'], lines=1) for told in group)} are left out: they are the same participant; keep one.")
    return {place: group[0] for place, group in matches.items() if len(group) == 1}, remarks


def _plain(name: str) -> str:
    return " ".join(re.findall(r"\w+", name.replace("_", " ").casefold()))


def _table(rows: list[list[Any]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows(rows)
    return out.getvalue()


def read_roster(path: Path, by: str) -> dict[str, str]:
    """Candidate -> identifier, from a CSV with a column `candidate` and one called as Moodle or --by calls it. Raises UsageProblem."""
    try:
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageProblem(f"{path} can't be read as a CSV ({error}).") from None
    head = {str(name).strip().casefold(): name for name in (rows[0] if rows else {})}
    column = head.get(HEADINGS[by].casefold(), head.get(by))
    if "candidate" not in head or column is None:
        raise UsageProblem(f"{path} should have a column `candidate` and a column `{by}` (or `{HEADINGS[by]}`); it has {', '.join(map(str, head.values())) or 'none'}.")
    return {(row[head["candidate"]] or "").strip(): (row[column] or "").strip() for row in rows}
