"""From records to what the pages show: plain data, no markup."""

from __future__ import annotations

import ast
import csv
import io
import re
from collections import Counter
from typing import Any

from ..grading.source import parsed
from ..render.text import tame

BEGINS = re.compile(r'(^|[;\t])([ "]*+)(?=[=+@＝＋＠－-])')  # a formula, at the start of a cell or where a spreadsheet that parts cells by ; or tab starts one
UNGRADED: dict[str, Any] = {"verdict": "error", "score": 0.0, "max_score": 0.0, "misconceptions": ()}  # the grader failed on the return


def batch_view(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Rows, the distribution of scores, pass rates of checks, how common each misconception is."""
    shares = [told["score"] / told["max_score"] if told["max_score"] else 0.0 for told in records]
    bins = Counter(min(int(10 * share), 9) for share in shares)
    top = max(bins.values(), default=1)
    exercises, _ = asked(records)
    return {
        "rows": [{**told, "exercises": told["exercises"] or [UNGRADED] * len(exercises), "share": share, "page": f"candidates/{number:04}.html"} for number, (told, share) in enumerate(zip(records, shares, strict=True), 1)],
        "bins": [{"from": 10 * n, "to": 10 * n + 10, "count": bins.get(n, 0), "height": round(100 * bins.get(n, 0) / top)} for n in range(10)],
        "checks": _rates(records), "misconceptions": _common(records), "questions": _questions(records),
        "exercises": exercises,
    }


def asked(records: list[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """The exercises and the questions of a batch, whichever return comes first: one that the grader failed on has neither."""
    return (list(dict.fromkeys(part["exercise"] for told in records for part in told["exercises"])),
            list(dict.fromkeys(answer["question"] for told in records for answer in told["answers"])))


def _rates(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    seen: dict[tuple[str, str], dict[str, Any]] = {}
    for told in records:
        for part in told["exercises"]:
            for check in part["checks"]:
                row = seen.setdefault((part["exercise"], check["id"]), {"exercise": part["exercise"], "title": check["title"], "passed": 0, "failed": 0, "skipped": 0})
                row[check["outcome"]] += 1
    rows = [{**row, "rate": round(100 * row["passed"] / max(1, row["passed"] + row["failed"] + row["skipped"]))} for row in seen.values()]
    return sorted(rows, key=lambda row: (row["exercise"], row["rate"]))


def _common(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    counts: Counter[str] = Counter()
    texts: dict[str, str] = {}
    for told in records:
        for part in told["exercises"]:
            for named in part["misconceptions"]:
                counts[named["id"]] += 1
                texts[named["id"]] = " ".join(named["message"].partition("\n\n")[0].split())
    return [{"id": name, "count": count, "message": texts[name]} for name, count in counts.most_common(25)]


def _questions(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    sums: dict[str, list[float]] = {}
    for told in records:
        for answer in told["answers"]:
            sums.setdefault(answer["question"], []).append(answer["score"])
    return [{"question": name, "mean": round(100 * sum(scores) / len(scores))} for name, scores in sums.items()]


def source_view(part: dict[str, Any]) -> list[dict[str, Any]]:
    """Source lines, those of functions with a failed check or a named misconception marked guilty."""
    guilty = {named["function"] for named in part["misconceptions"]}
    broken = {rule["line"] for rule in part.get("broken", ())}
    lines = part.get("source", "").splitlines()
    marked = _lines_of(part.get("source", ""), guilty) | broken
    return [{"number": number, "text": tame(line, lines=1), "guilty": number in marked, "broken": number in broken} for number, line in enumerate(lines, 1)]


def _lines_of(source: str, names: set[str]) -> set[int]:
    try:
        tree = parsed(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    found: set[int] = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in names:
            found |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return found


def answer_view(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """A typed answer in pieces: plain text and words that earned a point."""
    text, pieces, at = answer["answer"], [], 0
    for point, start, end in sorted(answer.get("spans", ()), key=lambda span: (span[1], span[2])):
        if start >= at:
            pieces += [{"text": tame(text[at:start]), "point": ""}, {"text": tame(text[start:end]), "point": point}]
            at = end
    return [piece for piece in (*pieces, {"text": tame(text[at:]), "point": ""}) if piece["text"]]


def as_csv(records: list[dict[str, Any]]) -> str:
    """A row per candidate. Cells that a spreadsheet would take for a formula begin with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    exercises, questions = asked(records)
    writer.writerow(["candidate", "score", "max_score", *(f"{e} {what}" for e in exercises for what in ("verdict", "score", "misconceptions")), *questions, "remarks"])
    for told in records:
        cells: list[Any] = [told["candidate"], told["score"], told["max_score"]]
        for part in told["exercises"] or [UNGRADED] * len(exercises):
            cells += [part["verdict"], part["score"], " ".join(named["id"] for named in part["misconceptions"])]
        cells += [answer["score"] for answer in told["answers"] or [{"score": 0.0}] * len(questions)] + [" ".join(filter(None, [told["problem"], *told["remarks"]]))]
        writer.writerow([plain_cell(cell) for cell in cells])
    return out.getvalue()


def plain_cell(value: Any) -> Any:
    """A cell that no spreadsheet runs, whatever it parts cells by: quotes don't help where it is the semicolon."""
    if not isinstance(value, str):
        return value
    text = BEGINS.sub(r"\1\2'", tame(value, lines=1))
    return f"'{text}" if text.startswith("\t") else text
