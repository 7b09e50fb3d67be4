"""An ordinary user in a suite that root runs: an interpreter that he can read, and a process of his in which attacks are graded one by one."""

from __future__ import annotations

import json
import os
import shutil
import site
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from tests.redteam.arena import Fate

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534
WHO: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
NAME = f"python{sys.version_info.major}.{sys.version_info.minor}"
FACES = "import sys, numpy, torch, attngrade.grading; print(sys.version_info[:2])"


class Unreachable(Exception):
    """Why an ordinary user can't run this project's code here."""


class Stranger:
    """A grader of another user. ``fate`` asks for one attack; what he keeps warm is ended by ``close``."""

    def __init__(self, folder: Path, ground: Path, isolation: str):
        self.ground = ground
        self._environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        python = self._interpreter(folder)
        for path in (ground, *ground.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        command = [str(python), "-m", "tests.redteam.arena", str(ground), isolation]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/", env=self._environment, **WHO)

    def fate(self, attack: Path) -> Fate:
        """Have an attack graded."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{attack}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the grader of the other user is dead"
        return Fate(**json.loads(line))

    def close(self) -> None:
        """Let him go."""
        self.process.communicate()

    # ------------------------------------------------------------ an interpreter

    def _interpreter(self, folder: Path) -> Path:
        """A venv over an interpreter that he can run, with the packages of this one. Raises Unreachable."""
        base = next((Path(path) for path in (os.path.realpath(sys.executable), shutil.which(NAME)) if path and self._runs(path)), None)
        venv = venv_over(base or self._copied(folder / "base"), folder / "venv")
        done = subprocess.run([venv, "-c", FACES], capture_output=True, text=True, cwd="/", env=self._environment, **WHO)
        if done.returncode:
            raise Unreachable(f"an ordinary user can't read this interpreter's packages: {done.stderr.strip().splitlines()[-1]}")
        return venv

    def _runs(self, path: str) -> bool:
        try:
            done = subprocess.run([path, "-c", "import sys, ssl, ctypes; print(sys.version_info[:2])"], capture_output=True, text=True, cwd="/", env={}, **WHO)
        except OSError:
            return False
        return done.stdout.strip() == str(sys.version_info[:2])

    def _copied(self, folder: Path) -> Path:
        """This interpreter and its library, where nobody else has one of the version."""
        library = Path(sysconfig.get_path("stdlib", vars={"installed_base": sys.base_prefix}))
        shutil.copytree(library, folder / "lib" / NAME, ignore=shutil.ignore_patterns("site-packages", "test", "__pycache__", "ensurepip"))
        for shared in Path(sys.base_prefix, "lib").glob("libpython*"):
            shutil.copy(shared, folder / "lib" / shared.name)
        (folder / "bin").mkdir()
        shutil.copy(os.path.realpath(sys.executable), folder / "bin" / NAME)
        self._environment["LD_LIBRARY_PATH"] = str(folder / "lib")
        return folder / "bin" / NAME


def venv_over(base: Path, folder: Path) -> Path:
    """A virtual environment whose packages are those of the running interpreter."""
    packages = folder / "lib" / NAME / "site-packages"
    packages.mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(base)
    (folder / "pyvenv.cfg").write_text(f"home = {base.parent}\n", encoding="utf-8")
    added = "".join(f"import site; site.addsitedir({place!r})\n" for place in site.getsitepackages())
    (packages / "borrowed.pth").write_text(added, encoding="utf-8")
    return folder / "bin" / "python"
