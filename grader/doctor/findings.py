"""What a look at one part of the machine yields."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class State(StrEnum):
    """How good a part is."""

    GOOD = "good"
    LESS = "less"  # works, with something missing that the remedy brings
    ABSENT = "absent"  # not here, and not needed for what the detail doesn't name
    BROKEN = "broken"  # checks can't run


@dataclass(frozen=True)
class Finding:
    """One part: its state, what was seen, and the exact remedy (empty where nothing is to be done)."""

    part: str
    state: State
    detail: str
    remedy: str = ""
    facts: dict[str, str] = field(default_factory=dict)
