"""Device memory as the driver tells it, asked of a library that answers as NVML does; and the race, with clocks and workers of its own."""

from __future__ import annotations

import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest
from attngrade.checks import check_online_softmax_on_gpu as checks
from attngrade.checks.claims import Claim, tensor
from attngrade.checks.online_oracles import attention
from attngrade.sandbox import gauge, race, wire
from attngrade.sandbox.errors import DeviceLost, Raised, WorkerDied, lost

NVML = """
#include <stdlib.h>
typedef struct { unsigned int pid; unsigned long long used; unsigned int a, b; } process;
typedef struct { unsigned long long total, free, used; } memory;
int nvmlInit_v2(void) { return getenv("REFUSE") ? 9 : 0; }
int nvmlDeviceGetCount_v2(unsigned int *n) { *n = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned int i, void **d) { *d = (void *)(unsigned long)(i + 1); return 0; }
int nvmlDeviceGetMemoryInfo(void *d, memory *m) { m->total = 1000; m->used = 100 * (unsigned long)d; m->free = 1000 - m->used; return 0; }
int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned int *n, process *p) {
    if (*n < 70) { *n = 70; return 7; }
    *n = 70;
    for (unsigned i = 0; i < 70; i++) { p[i].pid = i; p[i].used = i == 69 ? ~0ULL : 1000 * (unsigned long)d + i; }
    return 0;
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """A driver's library with two devices, on which processes 0 to 69 run; the last is not counted."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here")
    folder = tmp_path_factory.mktemp("nvml")
    (folder / "nvml.c").write_text(NVML)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", folder / "nvml.so", folder / "nvml.c"], check=True)
    return str(folder / "nvml.so")


def test_a_process_is_found_on_every_device_however_many_run(library):
    assert gauge.find(library).held([3, 5]) == 1003 + 1005 + 2003 + 2005


def test_where_no_process_is_told_the_devices_count_as_a_whole(library):
    assert gauge.find(library).held([69, 12345]) == 100 + 200


def test_without_the_library_or_its_leave_there_is_no_gauge(library, monkeypatch):
    assert gauge.find("libno-such-driver.so.1") is None
    monkeypatch.setenv("REFUSE", "1")


    assert gauge.find(library) is None


def test_growth_that_was_given_back_before_the_end_is_seen():
    readings = iter([10, 500, *[10] * 10_000])
    with gauge.watching(SimpleNamespace(held=lambda pids: next(readings)), []) as seen:
        while seen.most != 500:
            pass

    assert seen.growth == 490


@pytest.mark.parametrize("said", ["CUDA error: an illegal memory access was encountered\nCUDA kernel errors might be asynchronously reported",
                                  "Triton Error [CUDA]: misaligned address", "CUDA error: device-side assert triggered", "CUDA error: unspecified launch failure"])
def test_an_error_after_which_the_device_answers_nobody_is_known(said):
    assert lost(Raised({"type": "AcceleratorError", "message": said}))


@pytest.mark.parametrize("said", ["CUDA error: invalid configuration argument", "out of resource: shared memory", "an illegal memory access", "CUDA out of memory."])
def test_what_a_device_survives_is_not_taken_for_its_loss(said):
    assert not lost(Raised({"type": "RuntimeError", "message": said}))


def test_a_lost_device_is_a_death_that_says_what_to_look_for():
    error = DeviceLost("f", "misaligned address")

    assert isinstance(error, WorkerDied) and "tail without a mask" in str(error) and error.reason == "crash"


# ---------------------------------------------------------------- the race


class Clock:
    """Time that passes when somebody says so."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now


class Runner:
    """A worker that computes exact attention, each call in so many seconds; ``remember`` makes it answer with its first result for ever."""

    def __init__(self, clock, seconds, remember=False):
        self.clock, self.seconds, self.remember, self.deadline, self.laps = clock, seconds, remember, 1e9, []
        self.first = None

    def ask(self, message):
        if message["op"] == "line_up":
            self.arrays = [wire.widen(array.data) for array in message["args"]] or self.arrays
            self.inputs = [[np.roll(x, turn, message["axis"]) for x, turn in zip(self.arrays, turns, strict=True)] for turns in message["turns"]]
        elif message["op"] == "lap":
            self.clock.now += self.seconds * len(self.inputs)
            self.laps.append((self.clock.now, len(self.inputs)))
            self.results = [attention(*inputs, message["kwargs"]["causal"]) for inputs in self.inputs]
            self.first = self.first or self.results[0]
            self.results = [self.first] * len(self.results) if self.remember else self.results
        else:
            cut = [(self.results[call][0][tuple(place)], np.asarray(self.results[call][1][tuple(place)])) for call, place in message["places"]]
            return {"value": tuple((wire.Array(wire.narrow(out), "bfloat16"), wire.Array(lse.astype("float32"), "float32")) for out, lse in cut)}
        return {}


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(race, "time", found)
    return found


def run(own, rival, causal=False, t=12):
    arrays = [tensor(x, "bfloat16") for x in np.random.default_rng(1).standard_normal((3, 1, 2, t, 16))]
    return race.run(own, rival, "f", arrays, axis=2, depth=3, rng=np.random.default_rng(2), kwargs={"causal": causal})


def claimed(own, rival, monkeypatch):
    """What the exercise's own check says of a race; or nothing."""
    monkeypatch.setattr(checks, "qkv", lambda rng, *sizes, **options: rng.standard_normal((3, 1, 2, 12, 16)))
    submission = SimpleNamespace(race=lambda name, *arrays, **options: race.run(
        own, rival, name, list(arrays), axis=options["axis"], depth=options["depth"], rng=options["rng"], kwargs={"causal": options["causal"]}))
    try:
        checks.test_kernel_is_fast(submission, np.random.default_rng(3))
    except Claim as claim:
        return str(claim)
    return ""


def test_the_two_run_in_turn_and_the_ratio_is_that_of_their_throughputs(clock):
    own, rival = Runner(clock, 0.004), Runner(clock, 0.002)
    found = run(own, rival)

    assert found.ratio == pytest.approx(0.5) and len(found.seconds) == race.LAPS == len(found.reference_seconds)
    order = [who for _, who in sorted([(at, "own") for at, _ in own.laps[2:]] + [(at, "rival") for at, _ in rival.laps[2:]])]
    assert order[:4] == ["rival", "own", "own", "rival"] and order.count("own") == order.count("rival")


def test_a_race_takes_no_longer_than_its_patience_however_slow_a_kernel_is(clock):
    run(Runner(clock, 5.0), Runner(clock, 0.001))

    assert clock.now < 45


def test_no_two_timed_calls_have_the_same_inputs_and_each_is_looked_at(clock):
    found = run(Runner(clock, 0.001), Runner(clock, 0.001))

    calls = race.LAPS * race.CALLS
    assert len(found.samples) == calls and len({sample.place for sample in found.samples}) > 12
    assert len({sample.given[0].tobytes() + sample.given[1].tobytes() + sample.given[2].tobytes() for sample in found.samples}) > 0.8 * calls


@pytest.mark.parametrize(("seconds", "says"), [(0.0010, ""), (0.0016, ""), (0.0018, "56% of the reference kernel's throughput"), (0.010, "10% of")])
def test_the_stretch_points_are_decided_at_sixty_percent_and_the_speed_is_called_advisory(clock, monkeypatch, seconds, says):
    told = claimed(Runner(clock, seconds), Runner(clock, 0.001), monkeypatch)

    assert bool(told) == bool(says) and says in told
    assert not told or "advisory" in told


def test_a_kernel_that_remembers_its_first_answer_fails_on_values(clock, monkeypatch):
    assert "isn't that of its own inputs" in claimed(Runner(clock, 1e-6, remember=True), Runner(clock, 0.001), monkeypatch)


def test_a_race_whose_samples_are_missing_fails_on_values(clock, monkeypatch):
    class Silent(Runner):
        def ask(self, message):
            return {"value": None} if message["op"] == "samples" else super().ask(message)

    assert "came back as None" in claimed(Silent(clock, 1e-6), Runner(clock, 0.001), monkeypatch)


def test_a_reference_that_fails_is_nobody_elses_fault(clock):
    class Broken(Runner):
        def ask(self, message):
            return {"raised": {"type": "RuntimeError", "message": "no"}}

    with pytest.raises(race.NoRival):
        run(Runner(clock, 0.001), Broken(clock, 0.001))


def test_what_the_submission_raises_while_it_is_timed_is_its_own(clock):
    class Raising(Runner):
        def ask(self, message):
            return {"raised": {"type": "RuntimeError", "message": "no"}} if message["op"] == "lap" else super().ask(message)

    with pytest.raises(Raised):
        run(Raising(clock, 0.001), Runner(clock, 0.001))
