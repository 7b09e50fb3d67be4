"""Save to verdict in watch mode: files are written, the screen is read through a pseudo-terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attngrade.catalog import Exercise, builtin
from attngrade.sandbox.processes import Tree

from .measure import alternate, weight

CORPUS = Path(__file__).resolve().parent.parent / "tests" / "corpus"
BAR = rb"done .{0,40}watching|done \xc2\xb7"


class Screen:
    """A watch session on a pseudo-terminal."""

    def __init__(self, exercise: Exercise, folder: Path):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ |= {"ATTNGRADE_HOME": str(folder / "home"), "TERM": "xterm"}
            os.execv(str(Path(sys.executable).parent / "attngrade"), ["attngrade", "watch", exercise.id, "--workspace", str(folder)])

    def until(self, pattern: bytes, seconds: float = 60) -> bool:
        """Read until a pattern stands on the screen."""
        seen, limit = b"", time.monotonic() + seconds
        while time.monotonic() < limit:
            if not select.select([self.fd], [], [], 0.05)[0]:
                continue
            try:
                seen += os.read(self.fd, 1 << 16)
            except OSError:
                return False
            if re.search(pattern, seen):
                return True
        return False

    def leave(self) -> None:
        """Press q and wait."""
        os.write(self.fd, b"q")
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def save_to_verdict(exercise: Exercise, folder: Path, texts: Sequence[str], saves: int = 9) -> tuple[float, float]:
    """The median seconds from a save to the verdict, over files that take turns; and the memory of the session, warm workers and all, in MiB."""
    path = folder / f"{exercise.module}.py"
    path.write_text(exercise.stub.read_text())
    screen, times, peak = Screen(exercise, folder), [], 0.0
    screen.until(rb"q quit")
    for n in range(saves):
        time.sleep(0.7)
        started = time.perf_counter()
        path.write_text(f"{texts[n % len(texts)]}\n# {n}\n")
        if not screen.until(BAR):
            raise RuntimeError(f"no verdict on {exercise.id}")
        times.append(time.perf_counter() - started)
        peak = max(peak, weight(Tree(screen.pid).members()))
        screen.until(rb"quit", 1)
    screen.leave()
    return statistics.median(times), peak


def wrong(exercise: Exercise, count: int = 3) -> list[str]:
    """Some files of the corpus whose mistake is named."""
    texts = [path.read_text() for path in sorted((CORPUS / exercise.slug / "wrong").glob("*.py"))]
    named = [text for text in texts if re.search(r"^# names: \w", text, re.M)]
    return named[:: max(1, len(named) // count)][:count]


def rows(rounds: int, folder: Path, row: Callable[..., dict[str, Any]]) -> list[dict[str, Any]]:
    """Two rows for each exercise that needs no GPU: right and unfinished files in turn, and files with a mistake that is named."""
    (folder / "test_torch.py").write_text("import torch\n\ndef test_a():\n    assert torch.ones(2).sum() == 2\n")
    bare = alternate({"bare": [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder / "test_torch.py")]}, 3, {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
    found = []
    for exercise in builtin().exercises:
        if not exercise.gpu:
            for name, texts in (("", (exercise.solution.read_text(), exercise.stub.read_text())), (", a mistake and its name", wrong(exercise))):
                place = folder / f"watch-{exercise.id}{len(texts)}"
                place.mkdir()
                seconds, peak = save_to_verdict(exercise, place, texts)
                found.append(row(f"save to verdict, {exercise.id}{name}", seconds, "bare pytest importing torch", bare["bare"].median, peak, bare["bare"].peak_mib))
    return found
