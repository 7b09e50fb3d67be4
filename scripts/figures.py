"""``make figures``: what was measured, from the recorded files into README.md and docs/checks.md. ``make table`` verifies the whole set first.

    python -m scripts.figures [--verify] [--mark]

Recorded: benchmarks/results.json (`make bench`), benchmarks/gpu/kernel.json (scripts/gpu_check.sh), docs/verified.json (`--verify`: attngrade pack verify) and docs/marked.json (`--mark`:
attngrade questions --evaluate). No figure is written by hand; a test compares the pages with the recorded files.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from attngrade.catalog import builtin
from attngrade.render.pack import as_markdown
from attngrade.verify import Report

ROOT = Path(__file__).resolve().parent.parent
README, CHECKS = ROOT / "README.md", ROOT / "docs" / "checks.md"
MEASURED, KERNEL = ROOT / "benchmarks" / "results.json", ROOT / "benchmarks" / "gpu" / "kernel.json"
VERIFIED, MARKED = ROOT / "docs" / "verified.json", ROOT / "docs" / "marked.json"
OPEN, CLOSE = "<!-- figures -->", "<!-- /figures -->"
Record = dict[str, Any] | None


def record(path: Path, *arguments: str) -> None:
    """Run a command that prints JSON and keep it, with the day. A command that fails leaves the old record in place."""
    told = subprocess.run([sys.executable, "-m", "attngrade", *arguments, "--format", "json"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if told.returncode:
        raise SystemExit(f"attngrade {' '.join(arguments)} ended with {told.returncode}; run it without --format json to see why. {path.name} stays as it was.")
    path.write_text(json.dumps({"date": datetime.date.today().isoformat(), **json.loads(told.stdout)}, indent=1) + "\n", encoding="utf-8")


def recorded(path: Path) -> Record:
    """What was recorded, or nothing."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def speed(measured: Record) -> list[str]:
    """Seconds beside what one would do instead."""
    if measured is None:
        return ["Speed: not measured yet (`make bench`)."]
    on = measured["machine"]
    lines = [f"**Speed**, {measured['date']}, {on['cores']} cores, Python {on['python']}, torch {on['torch']} (`make bench`, medians):", "",
             "| what | seconds | peak MiB | against | seconds | peak MiB | ratio |", "| --- | ---: | ---: | --- | ---: | ---: | ---: |"]
    return lines + [f"| {row['what']} | {row['seconds']:.3g} | {row.get('peak_mib') or ''} | {row['against']} | {row['other_seconds']:.3g} | {row.get('other_mib') or ''} | "
                    f"{row['ratio']:.2f} |" for row in measured["rows"]]


def kernel(measured: Record) -> list[str]:
    """The reference kernel beside PyTorch's own flash attention."""
    if measured is None or measured["card"] is None:
        return ["The reference kernel on a GPU: not measured yet (`scripts/gpu_check.sh` on a machine with one)."]
    lines = [f"**The reference kernel of exercise 06** on {measured['card']}, torch {measured['torch']}, {measured['dtype'].removeprefix('torch.')}, forward pass "
             "(`scripts/gpu_check.sh`, medians; a speed above 1 is faster than the other):", "",
             "| B, H, T, Dh | causal | ours, ms | TFLOP/s | PyTorch's flash, ms | its cuDNN, ms | speed over flash's |", "| --- | --- | ---: | ---: | ---: | ---: | ---: |"]
    return lines + [f"| {', '.join(map(str, row['shape']))} | {'yes' if row['causal'] else 'no'} | {row['ours_ms']:.3g} | {row['ours_tflops']:.0f} | {row['torch_flash_ms']:.3g} | "
                    + (f"{row['torch_cudnn_ms']:.3g}" if "torch_cudnn_ms" in row else "") + f" | {row['ratio']:.2f} |" for row in measured["rows"]]


def content(verified: Record) -> list[str]:
    """What the set was admitted with."""
    if verified is None:
        return ["Exercises: no verification recorded yet (`make table`)."]
    lines = [f"**Exercises**, {verified['date']} (`attngrade pack verify`; every misconception fails and is named, [which check catches which](docs/checks.md)):", "",
             "| exercise | right versions that pass | misconceptions | checks | problems |", "| --- | ---: | ---: | ---: | ---: |"]
    lines += [f"| {one['exercise']} | {one['right']} | {len(one['table'])} | {len(one['checks'])} | {len(one['problems'])} |" for one in verified["exercises"]]
    missing = {one.id for one in builtin().exercises} - {one["exercise"] for one in verified["exercises"]}
    return lines + (["", f"Not in that record: {', '.join(sorted(missing))} (`make test` tries a share of its wrong ideas each time)."] if missing else [])


def marker(marked: Record) -> list[str]:
    """How the marker does on the answers that it was tuned on."""
    if marked is None:
        return ["Marker: not measured yet (`make figures`)."]
    whole = marked["overall"]
    traps = whole["adversarial"].values()
    return [f"**Marker**, {marked['date']} (`attngrade questions --evaluate`), on {marked['measured_on']}. Of {whole['answers']:,} labelled answers "
            f"{whole['exact']:,} get exactly the marks of their labels; over the points precision is {whole['precision']:.3f}, recall {whole['recall']:.3f}; of {sum(trap['answers'] for trap in traps)} answers that should "
            f"earn nothing, {sum(trap['above_a_third'] for trap in traps)} earned more than a third. [What that does and doesn't say](docs/marking.md)."]


def block() -> str:
    """Every part, one after the other, from what is recorded."""
    parts = ((speed, MEASURED), (kernel, KERNEL), (content, VERIFIED), (marker, MARKED))
    return "\n\n".join("\n".join(told(recorded(path))) for told, path in parts)


def filled(page: str, figures: str) -> str:
    """The page with the block between its two marks replaced."""
    if page.count(OPEN) != 1 or page.count(CLOSE) != 1:
        raise SystemExit(f"The page needs one {OPEN} and one {CLOSE}, each on a line of its own.")
    before, _, rest = page.partition(OPEN)
    return f"{before}{OPEN}\n{figures}\n{CLOSE}{rest.partition(CLOSE)[2]}"


def table(verified: Record) -> str:
    """Misconception by check, as `attngrade pack verify --format markdown` writes it."""
    if verified is None:
        return "# Which check catches which misconception\n\nNo verification has been recorded yet: `make table` makes one and writes this page.\n"
    reports = [Report(**{**one, "table": {name: frozenset(checks) for name, checks in one["table"].items()}}) for one in verified["exercises"]]
    return as_markdown(reports, verified["strays"]).rstrip() + "\n"


def main() -> None:
    """Record what was asked for, then write both pages."""
    parser = argparse.ArgumentParser(prog="figures", description=__doc__)
    parser.add_argument("--verify", action="store_true", help="run `attngrade pack verify` first (minutes)")
    parser.add_argument("--mark", action="store_true", help="run `attngrade questions --evaluate` first (seconds)")
    asked = parser.parse_args()
    if asked.verify:
        record(VERIFIED, "pack", "verify")
    if asked.mark:
        record(MARKED, "questions", "--evaluate")
    README.write_text(filled(README.read_text(encoding="utf-8"), block()), encoding="utf-8")
    CHECKS.write_text(table(recorded(VERIFIED)), encoding="utf-8")
    print(f"Wrote the figures of {README.name} and {CHECKS.relative_to(ROOT)}.")


if __name__ == "__main__":
    main()
