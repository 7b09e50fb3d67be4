"""``make picture``: runs a check that fails in a terminal of 80 columns and draws what came out, colours and all, as docs/failed_check.svg.

    python -m scripts.picture [--output FILE]

Nothing in the picture is written by hand: the terminal is a pseudo-terminal, the text is what the command printed.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from html import escape, unescape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "failed_check.svg"
COMMAND = ["check", "exercise03", "--file", "tests/examples/top_left_mask.py"]
COLUMNS, WIDE, HIGH, LEFT, TOP = 80, 8.4, 19, 16, 62
INKS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "35": "#d2a8ff", "36": "#79c0ff"}
PAPER, TEXT, FADED = "#0d1117", "#e6edf3", "#8b949e"


def recorded(arguments: list[str], columns: int = COLUMNS) -> str:
    """What the command prints in a terminal of its own, escape sequences included."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    with tempfile.TemporaryDirectory() as home:
        own = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
        own |= {"TERM": "xterm-256color", "ATTNGRADE_HOME": home, "PYTHONIOENCODING": "utf-8"}
        running = subprocess.Popen([sys.executable, "-m", "attngrade", *arguments], cwd=ROOT, stdin=theirs, stdout=theirs, stderr=theirs, env=own)
        os.close(theirs)
        told = b"".join(iter(lambda: _read(ours), b""))
        running.wait()
    os.close(ours)
    return told.decode().replace("\r\n", "\n").rstrip()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other end is closed: the command has ended
        return b""


def pieces(line: str) -> list[tuple[int, str, frozenset[str]]]:
    """A line as (column, text, codes in force); a run ends at two spaces, since a browser makes one of them."""
    found: list[tuple[int, str, frozenset[str]]] = []
    column, codes = 0, frozenset[str]()
    for text, code in re.findall(r"([^\x1b]+)|\x1b\[([0-9;]*)m", line):
        if text:
            found += [(column + run.start(), run.group(), codes) for run in re.finditer(r"\S+(?: \S+)*", text)]
            column += len(text)
        else:
            codes = frozenset() if code in ("", "0") else codes | set(code.split(";"))
    return found


def svg(command: str, told: str) -> str:
    """The recorded lines on a dark window, each run of text stretched to its columns whatever the font."""
    lines = [f"\x1b[32m$\x1b[0m \x1b[1m{command}\x1b[0m", *told.split("\n")]
    width, height = 2 * LEFT + COLUMNS * WIDE, TOP + len(lines) * HIGH
    drawn = [_run(row, *piece) for row, line in enumerate(lines) for piece in pieces(line)]
    dots = "".join(f'<circle cx="{LEFT + 8 + 20 * n}" cy="22" r="6" fill="{ink}"/>' for n, ink in enumerate(("#ff5f57", "#febc2e", "#28c840")))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="A failed check and its diagnosis">\n'
        f'<title>{escape(command)}</title>\n<rect width="100%" height="100%" rx="10" fill="{PAPER}"/>{dots}\n'
        f'<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" font-size="14" fill="{TEXT}">\n'
        + "\n".join(drawn) + "\n</g>\n</svg>\n"
    )


def _run(row: int, column: int, text: str, codes: frozenset[str]) -> str:
    ink = next((INKS[code] for code in sorted(codes) if code in INKS), FADED if "2" in codes else TEXT)
    weight = ' font-weight="bold"' if "1" in codes else ""
    return (f'<text x="{LEFT + column * WIDE:.1f}" y="{TOP + row * HIGH}" textLength="{len(text) * WIDE:.1f}" lengthAdjust="spacingAndGlyphs" '
            f'data-row="{row}" data-column="{column}" fill="{ink}"{weight}>{escape(text)}</text>')


def read_back(drawing: str) -> list[str]:
    """The lines that a picture shows, the command first."""
    rows: dict[int, str] = {}
    for row, column, text in re.findall(r'data-row="(\d+)" data-column="(\d+)"[^>]*>([^<]*)</text>', drawing):
        rows[int(row)] = rows.get(int(row), "").ljust(int(column)) + unescape(text)
    return [rows.get(row, "") for row in range(max(rows) + 1)]


def main() -> None:
    """Record and draw."""
    parser = argparse.ArgumentParser(prog="picture", description=__doc__)
    parser.add_argument("--output", type=Path, default=PICTURE)
    output = parser.parse_args().output
    output.write_text(svg(" ".join(["attngrade", *COMMAND]), recorded(COMMAND)), encoding="utf-8")
    print(f"Wrote {output}.")


if __name__ == "__main__":
    main()
