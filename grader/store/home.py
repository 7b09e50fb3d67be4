"""Where the record lies: the platform's folder for user data, or `ATTNGRADE_HOME`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path


def home(environ: Mapping[str, str] | None = None, platform: str = sys.platform) -> Path:
    """The folder of attngrade's own data; it need not exist yet."""
    given = os.environ if environ is None else environ
    if given.get("ATTNGRADE_HOME"):
        return Path(os.path.abspath(os.path.expanduser(given["ATTNGRADE_HOME"])))
    return _data_folder(given, platform) / "attngrade"


def database_path(environ: Mapping[str, str] | None = None) -> Path:
    """The database file in that folder."""
    return home(environ) / "attngrade.db"


def _data_folder(given: Mapping[str, str], platform: str) -> Path:
    person = Path(given.get("HOME") or os.path.expanduser("~"))
    if platform == "darwin":
        return person / "Library" / "Application Support"
    if platform == "win32":
        return Path(given.get("LOCALAPPDATA") or person / "AppData" / "Local")
    asked = given.get("XDG_DATA_HOME", "")
    return Path(asked) if os.path.isabs(asked) else person / ".local" / "share"
