"""Whether this system can give a check the process that it needs: pipes that are handed on, a look at several at once, the end of a whole group. Windows can't."""

from __future__ import annotations

import os
import select

from ..errors import AttngradeError

NEEDED = ((os, "killpg"), (os, "set_blocking"), (select, "poll"))
REMEDY = "On Windows: `wsl --install`, then attngrade inside WSL; or Colab, with `%load_ext attngrade`."
WORKS = "Statements, hints, solutions, questions, the quiz and exports work here."


class NoWorkers(AttngradeError):
    """Checks can't be run on this system at all."""

    def __init__(self) -> None:
        super().__init__(f"Checks run in a process that only Linux, macOS and WSL can start. {REMEDY} {WORKS}")


def runs_workers() -> bool:
    """Whether a worker can be started here."""
    return all(hasattr(place, name) for place, name in NEEDED)


def need_workers() -> None:
    """Raise NoWorkers where no worker can be started."""
    if not runs_workers():
        raise NoWorkers
