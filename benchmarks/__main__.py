"""``make bench``: every claim of speed as a ratio against what a user would do instead. Writes results.json, and the table in benchmarks/README.md.

    python -m benchmarks [--rounds 7] [--batch 40] [--only cold,watch,batch,marker,help,blockwise,growth] [--sizes 10,100,1000]

Parts that are not run keep the rows that they have in results.json.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from attngrade.catalog import builtin

from . import batch, blockwise, watch
from .measure import alternate, heaviest, machine

PAGE = """# Benchmarks

<!-- Written by `make bench`; don't edit by hand. -->

Seconds are medians of alternating runs, wall clock unless the row says otherwise; memory is that of every process of a command together at its height (pages that
several share counted once), in a run of its own. The last run was on {date}: {cores} cores, {system}, Python {python}, NumPy {numpy}, torch {torch}.

{table}

## How to repeat

| command | what it measures |
| --- | --- |
| `make bench` | all of the table; on a machine that does nothing else meanwhile |
| `.venv/bin/python -m benchmarks --only cold,blockwise` | parts of it: cold, watch, batch, marker, help, blockwise, growth; the other rows stay |
| `.venv/bin/python -m benchmarks --only growth --sizes 10,100` | a batch as it grows |
| `.venv/bin/python -m benchmarks.trial` | a batch with hostile returns, killed in the middle and resumed |
| `.venv/bin/python -m benchmarks.compiled` | what the reference kernel compiles to for a GPU, without one |
| `scripts/gpu_check.sh` | on a machine with a CUDA device: the verdict there, the kernel against PyTorch's own flash attention, other tiles; JSON in `benchmarks/gpu` |
| `scripts/gpu_check.sh --try` | the same script without a device: tiny inputs in the interpreter, times that mean nothing |
"""
HERE = Path(__file__).resolve().parent
BIN = Path(sys.executable).parent
ATTNGRADE = str(BIN / "attngrade")
BARE = {"torch": "import torch\n\ndef test_a():\n    assert torch.ones(2).sum() == 2\n\ndef test_b():\n    assert torch.zeros(2).sum() == 0\n",
        "numpy": "import numpy as np\n\ndef test_a():\n    assert np.ones(2).sum() == 2\n\ndef test_b():\n    assert np.zeros(2).sum() == 0\n"}
PLAIN = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # the fastest that bare pytest can be: none of this environment's plugins


def cold(rounds: int, folder: Path) -> list[dict[str, Any]]:
    """A cold check of each exercise against a bare pytest that imports torch and runs two asserts."""
    rows = []
    for framework, text in BARE.items():
        (folder / f"test_{framework}.py").write_text(text)
    for exercise in builtin().exercises:
        bare = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder / "test_torch.py")]
        told = alternate({"bare": bare, "check": [ATTNGRADE, "check", exercise.id, "--file", str(exercise.solution), "--format", "json"]}, rounds, PLAIN)
        rows.append(row(f"cold check, {exercise.id}", told["check"].median, "bare pytest importing torch, two asserts", told["bare"].median, told["check"].peak_mib, told["bare"].peak_mib))
    return rows


def help_(rounds: int, folder: Path) -> list[dict[str, Any]]:
    """``attngrade --help`` against an empty click program."""
    (folder / "empty.py").write_text("import click\n\n@click.command()\ndef main():\n    pass\n\nmain()\n")
    told = alternate({"empty": [sys.executable, str(folder / "empty.py"), "--help"], "help": [ATTNGRADE, "--help"]}, max(rounds, 11))
    return [row("attngrade --help", told["help"].median, "an empty click program's --help", told["empty"].median, told["help"].peak_mib, told["empty"].peak_mib)]


def marker(rounds: int, folder: Path) -> list[dict[str, Any]]:
    """One answer from a cold start, and per answer warm."""
    import time

    from attngrade.quiz.mark import mark
    from attngrade.quiz.question import load_bank

    answer = "q_i and k_i are independent with mean 0 and variance 1, so each product has mean 0 and variance 1; the d_k variances add, and the std is sqrt(d_k)."
    told = alternate({"mark": [ATTNGRADE, "mark", "score-variance", "--answer", answer], "python": [sys.executable, "-c", "import yaml, click"]}, rounds)
    question = load_bank().get("score-variance")
    mark(question, answer)
    started = time.perf_counter()
    for n in range(200):
        mark(question, f"{answer} {n}")
    warm = (time.perf_counter() - started) / 200
    peak = heaviest([sys.executable, "-c", f"from attngrade.quiz.mark import mark; from attngrade.quiz.question import load_bank; q = load_bank().get('score-variance'); "
                     f"[mark(q, {answer!r} + str(n)) for n in range(200)]"])
    return [row("mark one answer, cold", told["mark"].median, "a Python that imports yaml and click", told["python"].median, told["mark"].peak_mib, told["python"].peak_mib),
            row("mark one answer, warm", warm, "the limit of 20 ms", 0.020, peak)]


def row(what: str, seconds: float, against: str, other: float, peak_mib: float = 0.0, other_mib: float = 0.0) -> dict[str, Any]:
    """One line of the table; memory is that of every process together, 0 where it wasn't looked at."""
    return {"what": what, "seconds": round(seconds, 4), "against": against, "other_seconds": round(other, 4), "ratio": round(seconds / other, 3), "peak_mib": round(peak_mib),
            "other_mib": round(other_mib)}


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    lines = ["| what | seconds | peak MiB | against | seconds | peak MiB | ratio |", "| --- | ---: | ---: | --- | ---: | ---: | ---: |"]
    return "\n".join(lines + [f"| {r['what']} | {r['seconds']:.3g} | {r['peak_mib'] or ''} | {r['against']} | {r['other_seconds']:.3g} | {r.get('other_mib') or ''} | {r['ratio']:.2f} |"
                              for r in rows])


def page(told: dict[str, Any]) -> str:
    """The page that shows what was recorded."""
    return PAGE.format(date=told["date"], table=table(told["rows"]), **{key: told["machine"][key] for key in ("cores", "system", "python", "numpy", "torch")})


def merged(old: list[dict[str, Any]], new: dict[str, list[dict[str, Any]]], parts: list[str]) -> list[dict[str, Any]]:
    """The rows of all parts in their order: new ones, and old ones of the parts that were not run."""
    today = datetime.date.today().isoformat()
    fresh = {name: [{**each, "part": name, "date": today} for each in rows] for name, rows in new.items()}
    return [each for name in parts for each in fresh.get(name, [each for each in old if each.get("part") == name])]


def main() -> None:
    """Measure, print, and write ``benchmarks/results.json``."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--batch", type=int, default=40)
    parser.add_argument("--sizes", default="10,100,1000", help="returns of the batches that show growth")
    parts = {"cold": cold, "watch": lambda rounds, folder: watch.rows(rounds, folder, row), "batch": lambda rounds, folder: batch.rows(asked.batch, folder, row),
             "marker": marker, "help": help_, "blockwise": lambda rounds, folder: blockwise.rows(rounds, row),
             "growth": lambda rounds, folder: batch.growth([int(size) for size in asked.sizes.split(",")], folder, row)}
    parser.add_argument("--only", default=",".join(parts))
    asked = parser.parse_args()
    found: dict[str, list[dict[str, Any]]] = {}
    path = HERE / "results.json"
    old = json.loads(path.read_text())["rows"] if path.is_file() else []
    with tempfile.TemporaryDirectory() as folder:
        for name in asked.only.split(","):
            found[name] = parts[name](asked.rounds, Path(folder))
            print(table(found[name]), flush=True)
            told = {"date": datetime.date.today().isoformat(), "machine": machine(), "rounds": asked.rounds, "batch": asked.batch, "rows": merged(old, found, list(parts))}
            path.write_text(json.dumps(told, indent=1) + "\n")
    (HERE / "README.md").write_text(page(told))
    print("\n" + table(told["rows"]))


if __name__ == "__main__":
    main()
