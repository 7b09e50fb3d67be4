"""The batch on a real Dask cluster: a scheduler and two workers, one of which is killed in the middle."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest
from attngrade.takehome.batch import read_journal

from tests.takehome.world import RIGHT, attngrade

pytest.importorskip("distributed", reason="the `cluster` extra is not installed")
MANY = 10


@contextlib.contextmanager
def started(*words, ready):
    """A process of the cluster, up once ``ready`` stands in what it says."""
    process = subprocess.Popen([sys.executable, "-m", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    try:
        for line in process.stdout:
            if ready in line:
                break
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture
def cluster():
    """The address of a scheduler, and its two workers."""
    with started("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "18786", "--no-dashboard", ready="Scheduler at") as _:
        worker = ("distributed.cli.dask_worker", "tcp://127.0.0.1:18786", "--nworkers", "1", "--nthreads", "1", "--no-nanny", "--no-dashboard")
        with started(*worker, ready="Registered to") as one, started(*worker, ready="Registered to") as other:
            yield "tcp://127.0.0.1:18786", one, other


def test_a_worker_that_is_killed_costs_no_return(kit, tmp_path, cluster):
    address, _, other = cluster
    folder = tmp_path / "returns"
    folder.mkdir()
    for n in range(MANY):
        (folder / f"candidate{n:02}.py").write_text(RIGHT + f"\n# {n}\n")
    command = [sys.executable, "-m", "attngrade", "takehome", "grade", str(folder), "--kit", str(kit), "--results", str(tmp_path / "out"), "--cluster", address]
    batch = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    journal = tmp_path / "out" / "journal.jsonl"
    limit = time.monotonic() + 90
    while time.monotonic() < limit and batch.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") >= 2):
        time.sleep(0.05)
    os.killpg(other.pid, signal.SIGKILL)

    told, _ = batch.communicate(timeout=120)
    assert batch.returncode == 0, told
    assert {record["exercises"][0]["verdict"] for record in read_journal(journal).values()} == {"passed"}
    assert len(read_journal(journal)) == MANY


def test_an_address_without_a_scheduler_is_told_in_a_sentence(kit, returns):
    from attngrade.errors import AttngradeError

    with pytest.raises(AttngradeError, match="no Dask scheduler"):
        attngrade("takehome", "grade", returns, "--kit", kit, "--cluster", "tcp://127.0.0.1:9")
