"""A store of one's own, and a clock that stands still."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from attngrade.store import Store, open_store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "attngrade.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with open_store(path) as opened:
        yield opened


@pytest.fixture
def now() -> datetime:
    return datetime(2026, 7, 26, 10, 0, tzinfo=UTC)
