"""What works here, and the remedy for the rest."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from attngrade.doctor import Finding, State, machine, software, walls

PARTS = {"Python", "NumPy", "PyTorch", "Triton", "GPU", "C compiler", "Jail", "Warm jails", "Second jail", "Memory limit", "Record", "Terminal", "Pictures", "Notebook"}
SMI = """#!/bin/sh
case "$*" in
  *query-gpu*) echo "{name}, {capability}, 570.10, 81559 MiB" ;;
  *) echo "| NVIDIA-SMI 570.10    Driver Version: 570.10    CUDA Version: 12.8 |" ;;
esac
"""


def program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


@pytest.fixture
def only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    return tmp_path


def test_every_part_is_there_in_json_and_on_the_screen(attngrade):
    told = json.loads(attngrade("doctor", "--format", "json").stdout)
    screen = attngrade("doctor").stdout

    assert {row["part"] for row in told["findings"]} == PARTS
    assert all(part in screen for part in PARTS)
    assert max(map(len, screen.splitlines())) <= 80


def test_whatever_is_less_than_good_names_a_remedy(attngrade, tmp_path):
    found = json.loads(attngrade("doctor", "--format", "json", environ={"PATH": str(tmp_path), "ATTNGRADE_HOME": "/proc/nowhere"}).stdout)["findings"]

    lesser = [row for row in found if row["state"] in ("less", "broken")]
    assert {"Jail", "Record"} <= {row["part"] for row in lesser}
    assert all(row["remedy"] for row in lesser)


def test_torch_is_not_imported():
    code = "import sys\nfrom attngrade.doctor import examine\nexamine()\nprint(sorted({'torch', 'triton'} & set(sys.modules)))"
    import subprocess

    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert told.strip() == "[]"


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")
def test_without_bubblewrap_the_remedy_is_the_package(only):
    found = walls.bubblewrap()

    assert found.state is State.LESS
    assert "apt-get install bubblewrap" in found.remedy


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")
def test_a_refused_bubblewrap_is_told_with_its_own_words(only):
    program(only, "bwrap", "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    found = walls.bubblewrap()

    assert found.state is State.LESS
    assert "No permissions to create new namespace" in found.detail
    assert "sysctl" in found.remedy or "--security-opt" in found.remedy


def test_a_new_gpu_is_good_and_tells_its_capability(only):
    program(only, "nvidia-smi", SMI.format(name="NVIDIA H100", capability="9.0"))
    found = machine.gpu()

    assert found.facts["capability"] == "9.0"
    assert found.facts["cuda"] == "12.8"
    assert "compute capability 9.0" in found.detail


@pytest.mark.skipif(not Path("/bin/sh").exists(), reason="needs a shell")
def test_a_gpu_that_is_too_old_for_triton_is_said_to_be(only, monkeypatch):
    program(only, "nvidia-smi", SMI.format(name="Tesla T4", capability="7.5"))
    monkeypatch.setattr(machine.os.path, "exists", lambda path: True)
    found = machine.gpu()

    assert found.state is State.LESS
    assert "8.0" in found.detail


def test_a_driver_that_hangs_or_fails_is_no_gpu(only):
    program(only, "nvidia-smi", "#!/bin/sh\necho 'NVIDIA-SMI has failed'\nexit 9\n")
    found = machine.gpu()

    assert found.facts == {}
    assert found.remedy


@pytest.mark.parametrize(
    ("built", "driver", "state", "word"),
    [(None, "12.8", State.LESS, "cu128"), ("13.0", "12.6", State.LESS, "cu126"), ("12.6", "13.0", State.GOOD, ""), ("12.8", "12.6", State.GOOD, "")],
)
def test_a_torch_that_cannot_use_the_gpu_gets_the_wheel_that_can(monkeypatch, built, driver, state, word):
    monkeypatch.setattr(software, "torch_cuda", lambda: built)
    found = software.torch({"name": "a card", "cuda": driver})

    assert found.state is state
    assert word in found.remedy


def test_a_missing_package_breaks_and_names_pip(monkeypatch):
    monkeypatch.setattr(software, "version", lambda name: None)

    assert software.package("numpy", "NumPy") == Finding("NumPy", State.BROKEN, "not installed", f"`{sys.executable} -m pip install numpy`")


def test_elsewhere_than_on_linux_triton_is_absent_and_says_where_to_go(monkeypatch):
    monkeypatch.setattr(software, "version", lambda name: None)
    monkeypatch.setattr(software.sys, "platform", "darwin")
    found = software.triton()

    assert found.state is State.ABSENT
    assert "Colab" in found.remedy


def test_a_compiler_is_asked_for_only_where_there_is_a_gpu(only):
    assert machine.compiler({}).state is State.ABSENT
    assert "gcc" in machine.compiler({"name": "a card"}).remedy
    assert shutil.which("gcc") is None
