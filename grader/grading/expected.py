"""A check as it was collected, before it ran."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest


@dataclass
class Expected:
    """A check as collected, before it ran."""

    id: str
    title: str
    points: float
    stretch: bool
    functions: tuple[str, ...]
    after: tuple[str, ...]
    gpu_only: bool


def check_id(item: pytest.Item) -> str:
    """``test_last_query_sits_on_last_key`` -> ``last-query-sits-on-last-key``."""
    return item.name.removeprefix("test_").replace("_", "-")


def describe(item: pytest.Item) -> Expected:
    """What a check's decorators and docstring say of it."""
    check = getattr(item, "function", None)

    def read(name: str, default: Any) -> Any:
        return getattr(check, "attngrade_" + name, default)

    title = (getattr(check, "__doc__", None) or item.name).strip().splitlines()[0]
    return Expected(check_id(item), title, read("points", 0.0), read("stretch", False), tuple(read("functions", ())), tuple(read("after", ())), read("gpu_only", False))
