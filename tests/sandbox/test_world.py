"""What a call does to its process shows: the global generators and settings, and memory that earlier calls had freed."""

from __future__ import annotations

import numpy as np
import pytest
from attngrade.catalog import builtin
from attngrade.grading import Limits, plan_for
from attngrade.sandbox import jail
from attngrade.sandbox.errors import Raised
from attngrade.sandbox.host import Worker
from attngrade.sandbox.nursery import Crew
from attngrade.sandbox.proxy import Submission

needs_private_folders = pytest.mark.skipif(not jail.bubblewrap(), reason="a plain process can write nothing at all")
SOURCE = """
import ctypes
import mmap
import random
import tempfile
import time
import numpy as np

held = []

def nothing(x): return x * 2
def draws(x): return x * random.random()
def draws_a_normal(x): return x * random.gauss(0, 1)
def draws_from_numpy(x): return x * np.random.standard_normal()
def seeds(x): random.seed(7); return x
def seeds_numpy(x): np.random.seed(0); return x
def shortens(x): np.set_printoptions(precision=1); return x
def loosens(x): np.seterr(over="ignore", invalid="ignore"); return x
def draws_and_raises(x): random.random(); np.random.rand(); raise KeyError("x")
def own_generator(x): return x * random.Random(3).random() * np.random.default_rng(3).random() * np.random.RandomState(3).rand()

def litters(x):
    pieces = [bytes(5000) for _ in range(12_000)]
    held.append(pieces[::64])
    return x

def calls_itself_a_high_water_mark(x):
    ctypes.CDLL(None).prctl(15, b"VmHWM: 1")
    return x

def writes(x):
    with tempfile.TemporaryFile() as file:
        file.write(bytes(8 << 20))
    return x

def leaves_a_file(x):
    with open("/dev/shm/left", "wb") as file:
        file.write(bytes(8 << 20))
    return x

def holds_what_doesn_t_show(x):
    mmap.mmap(-1, 1 << 20)
    return x

def stands_aside(x):
    held.append(bytearray(b"1") * (32 << 20))
    return x

def makes_room(x):
    held.clear()
    time.sleep(0.3)
    held.append(bytearray(b"1") * (32 << 20))
    return x

def takes(x):
    pieces = [bytes(4000) for _ in range(6_000)]
    return x * len(pieces)
"""
TORCH = """
import torch
def draws_from_torch(x): return x * torch.rand(())
def seeds_torch(x): torch.manual_seed(0); return x
def widens(x): torch.set_default_dtype(torch.float64); return x
def shuts_off(x): torch.set_grad_enabled(False); return x
def coarsens(x): torch.set_float32_matmul_precision("medium"); return x
def moves(x): torch.set_default_device("meta"); return x
"""


@pytest.fixture(params=["exercise02", "exercise03"])
def submission(request: pytest.FixtureRequest, crew: Crew) -> Submission:
    worker: Worker = crew.worker(plan_for(builtin().find(request.param), Limits(), "cpu"))
    request.addfinalizer(worker.close)
    source = SOURCE + (TORCH if request.param == "exercise03" else "")
    worker.ask({"op": "load", "module": "given", "source": source, "modules": [], "names": [], "paths": []})
    return Submission(worker)


def touched(submission: Submission, name: str) -> tuple[str, ...]:
    getattr(submission, name)(np.ones(2))
    return submission.touched()


def test_whoever_draws_from_or_seeds_a_global_generator_is_told_so_each_time(submission: Submission) -> None:
    for name, what in (("draws", "random"), ("draws_a_normal", "random"), ("draws_from_numpy", "numpy.random"), ("seeds", "random"), ("seeds_numpy", "numpy.random")):
        for _ in range(3):
            assert touched(submission, name) == (what,), name
            assert touched(submission, "nothing") == (), name


def test_a_generator_of_ones_own_is_no_global_state(submission: Submission) -> None:
    assert touched(submission, "own_generator") == ()


def test_what_a_call_that_raised_has_drawn_is_not_held_against_the_next_one(submission: Submission) -> None:
    with pytest.raises(Exception, match="KeyError"):
        submission.draws_and_raises(np.ones(2))

    assert touched(submission, "nothing") == ()


def test_settings_that_a_call_leaves_changed_are_named(submission: Submission) -> None:
    assert touched(submission, "loosens") == ("numpy.errstate",)
    assert touched(submission, "shortens") == ("numpy.printoptions",)


@pytest.mark.parametrize("submission", ["exercise03"], indirect=True)
def test_torchs_generator_and_settings_are_looked_at(submission: Submission) -> None:
    for name, what in (("draws_from_torch", "torch.random"), ("seeds_torch", "torch.random"), ("widens", "default_dtype"), ("shuts_off", "grad_mode"),
                       ("coarsens", "matmul_precision"), ("moves", "default_device")):
        assert touched(submission, name) == (what,), name


def test_memory_that_an_earlier_call_freed_counts_once_the_worker_has_settled(submission: Submission) -> None:
    submission.litters(np.ones(2))
    submission.settle()
    submission.takes(np.ones(2))

    assert submission.peak_bytes() > 16 << 20


def test_a_worker_that_calls_itself_like_the_kernel_s_answer_hides_no_memory(submission: Submission) -> None:
    submission.calls_itself_a_high_water_mark(np.ones(2))
    submission.settle()
    submission.takes(np.ones(2))

    assert submission.peak_bytes() > 16 << 20


@needs_private_folders
def test_nothing_is_put_into_files_once_memory_is_looked_at(submission: Submission) -> None:
    submission.writes(np.ones(2))
    submission.settle()

    with pytest.raises(Raised, match="File too large"):
        submission.writes(np.ones(2))


@needs_private_folders
def test_what_lies_in_the_jail_s_own_folders_counts_as_memory(submission: Submission) -> None:
    submission.leaves_a_file(np.ones(2))
    submission.settle()
    submission.nothing(np.ones(2))

    assert submission.peak_bytes() >= 8 << 20


def test_room_that_is_made_for_a_call_by_letting_go_of_what_stood_before_is_seen(submission: Submission) -> None:
    submission.stands_aside(np.ones(2))
    submission.settle()
    submission.makes_room(np.ones(2))

    assert submission.peak_bytes() > 16 << 20


def test_no_memory_is_to_be_had_that_is_held_without_being_resident(submission: Submission) -> None:
    with pytest.raises(Raised, match="not permitted"):
        submission.holds_what_doesn_t_show(np.ones(2))
