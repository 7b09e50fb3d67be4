"""The learner's own record: one append-only log in SQLite; everything else is counted from it.

    with open_store(writing=True) as store:
        store.add(Hint("exercise03", 1), at=now)
        store.hints_shown("exercise03")

Nothing here reads a clock: `at` and `now` are arguments, timezone-aware.
"""

from .database import StoreProblem
from .home import database_path, home
from .log import Store, open_store
from .records import Answer, Attempt, Called, Entry, Flip, GiveUp, Hint, Review, Setting
from .transfer import ImportProblem, read_lines, write_lines

__all__ = [
    "Answer", "Attempt", "Called", "Entry", "Flip", "GiveUp", "Hint", "ImportProblem", "Review", "Setting", "Store", "StoreProblem", "database_path",
    "home", "open_store", "read_lines", "write_lines",
]  # fmt: skip
