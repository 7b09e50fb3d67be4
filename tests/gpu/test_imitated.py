"""The path of a grading on a device, up to the device: an imitation stands in its place (conftest.py), everything else is what runs on a GPU."""

from __future__ import annotations

import dataclasses

import pytest
from attngrade.checks import claims
from attngrade.grading import Limits, devices, grade
from attngrade.render.terminal import as_text
from attngrade.sandbox.race import NoRival
from attngrade.verdict import Outcome, Reason, Word

RIGHT = "import torch\n\ndef plain(x):\n    return x + x\n\ndef double(x):\n    return x + x\n"
ON_THE_DEVICE = "torch.cuda.is_available()"
ONLY_THERE = "shows on the GPU alone"


def check(verdict, name):
    return next(check for check in verdict.checks if check.id == name)


def doubling(body):
    return RIGHT.replace("def double(x):\n    return x + x\n", f"def double(x):\n{body}")


def test_the_same_file_is_provisional_without_a_device_and_passes_on_one(exercise, on_device):
    here = grade(exercise, RIGHT.encode(), seed=1)
    there = on_device(RIGHT)

    assert (here.word, here.reason, check(here, "doubles-on-the-device").outcome) == (Word.PROVISIONAL, Reason.NO_GPU, Outcome.SKIPPED)
    assert (there.word, there.device, there.score) == (Word.PASSED, "cuda", 7), [(c.id, c.message) for c in there.checks if c.message]


def test_a_race_is_run_by_a_trusted_process_on_the_same_device(on_device, started):
    on_device(RIGHT)

    assert started == ["worker on cuda", "trusted on cuda"]


def test_what_is_right_in_the_interpreter_and_wrong_on_the_device_is_told_as_such(on_device):
    verdict = on_device(doubling(f"    return x + x * (0.5 if {ON_THE_DEVICE} and x.ndim == 1 else 1)\n"))

    assert verdict.word is Word.FAILED
    assert "in Triton's interpreter this check passes" in check(verdict, "doubles-a-vector").message
    assert ONLY_THERE in " ".join(as_text([verdict], colour=False, width=100).split())
    assert check(verdict, "doubles").outcome is Outcome.PASSED


def test_where_only_a_check_for_devices_fails_the_others_speak_for_the_interpreter(on_device):
    verdict = on_device(doubling(f"    return x + x * (0.5 if {ON_THE_DEVICE} and x.shape == (6, 5) else 1)\n"))

    told = check(verdict, "doubles-on-the-device").message
    assert "every check of this function that can run there passes" in told


def test_what_is_wrong_everywhere_is_not_blamed_on_the_device(on_device):
    verdict = on_device(doubling("    return x\n"))

    assert [ONLY_THERE in c.message for c in verdict.failed if c.functions == ("double",)] == [False] * len(verdict.failed)


def test_a_kernel_that_is_stopped_costs_its_check_and_no_other(on_device, started):
    verdict = on_device(doubling(f"    if {ON_THE_DEVICE} and x.ndim == 4:\n        torch.cuda.fault()\n    return x + x\n"))

    stopped = check(verdict, "doubles")
    assert (stopped.outcome, stopped.reason) == (Outcome.FAILED, Reason.CRASH)
    assert "illegal memory access" in stopped.message and "fresh process" in stopped.message and ONLY_THERE in stopped.message
    assert [check(verdict, name).outcome for name in ("plain-doubles", "doubles-a-vector", "doubles-on-the-device", "memory-on-the-device")] == [Outcome.PASSED] * 4
    assert (verdict.word, verdict.reason, started[:2]) == (Word.FAILED, Reason.CRASH, ["worker on cuda", "worker on cuda"])


def test_a_kernel_that_is_stopped_in_every_check_leaves_the_other_functions_their_points(on_device):
    verdict = on_device(doubling(f"    if {ON_THE_DEVICE}:\n        torch.cuda.fault('misaligned address')\n    return x + x\n"))

    assert check(verdict, "plain-doubles").outcome is Outcome.PASSED
    stopped = [check(verdict, name) for name in ("doubles", "doubles-a-vector", "doubles-on-the-device", "memory-on-the-device")]
    assert all(each.reason is Reason.CRASH and "misaligned address" in each.message for each in stopped)


def test_an_error_that_the_device_survives_is_an_exception_like_any_other(on_device, started):
    verdict = on_device(doubling("    raise RuntimeError('CUDA error: invalid configuration argument')\n"))

    assert {c.reason for c in verdict.failed} == {Reason.WRONG_RESULT}
    assert "worker on cuda" not in started[1:]


def test_a_result_that_was_taken_off_the_device_is_told_so(on_device):
    verdict = on_device(doubling("    return (x + x).cpu()\n"))

    assert "doesn't lie on the device" in check(verdict, "doubles-on-the-device").message


def test_what_lies_around_a_tensor_on_the_device_is_watched(on_device):
    verdict = on_device(doubling("    if x.ndim == 2:\n        torch.as_strided(x, (1,), (1,), 0).fill_(3)\n    return x + x\n"))

    assert "what lies around it, was changed" in check(verdict, "doubles-on-the-device").message


def test_memory_that_the_allocator_counts_is_claimed(on_device):
    verdict = on_device(doubling("    y = torch.stack([x] * 8).sum(0)\n    return x + x\n"))

    assert "by the allocator" in check(verdict, "memory-on-the-device").message


def test_memory_that_the_driver_alone_sees_is_claimed(on_device, meter):
    meter.readings = [100 << 20, 164 << 20]

    assert "64 MiB by the driver" in check(on_device(RIGHT), "memory-on-the-device").message


def test_a_result_that_a_check_for_devices_cannot_work_with_is_the_submissions_fault(on_device, started):
    verdict = on_device(doubling("    return x + x if x.shape != (6, 5) else None\n"))

    assert (verdict.word, verdict.reason, check(verdict, "doubles-on-the-device").outcome) == (Word.FAILED, Reason.WRONG_RESULT, Outcome.FAILED)


def test_what_only_a_device_was_asked_is_not_asked_again_on_a_cpu(on_device):
    calls = on_device(doubling("    return x\n")).calls

    assert {call.check for call in calls if call.replayable} == {"plain-doubles", "doubles", "doubles-a-vector"}
    assert "doubles-on-the-device" in {call.check for call in calls}


def test_a_verdict_says_so_where_the_driver_cannot_be_asked(on_device, monkeypatch):
    asked = on_device(RIGHT)
    monkeypatch.setattr("attngrade.sandbox.gauge.find", lambda: None)
    unasked = on_device(RIGHT)

    assert "NVML" not in asked.isolation_note and "NVML" in unasked.isolation_note
    assert check(unasked, "memory-on-the-device").outcome is Outcome.PASSED


def test_a_reference_that_cannot_run_costs_nobody_anything(on_device, monkeypatch):
    from attngrade.grading import Opening

    def refuse(self):
        raise NoRival("no room")

    monkeypatch.setattr(Opening, "reference", refuse)
    verdict = on_device(RIGHT)

    assert (verdict.word, check(verdict, "is-fast").outcome) == (Word.PASSED, Outcome.SKIPPED)
    assert claims.collected is None  # a check that gave up has ended like any other


def test_a_reference_that_raises_costs_nobody_anything(on_device, exercise, tmp_path, started):
    broken = tmp_path / "exercise01_doubling.py"
    broken.write_text("raise RuntimeError('not here')\n")

    verdict = grade(dataclasses.replace(exercise, solution=broken), RIGHT.encode(), device="cuda", isolation="process", seed=1)

    assert (verdict.word, check(verdict, "is-fast").outcome, started[-1]) == (Word.PASSED, Outcome.SKIPPED, "trusted on cuda")


def test_a_slow_kernel_loses_its_stretch_points_and_nothing_else(on_device, monkeypatch):
    from attngrade.sandbox import race

    monkeypatch.setattr(race, "PATIENCE_S", 0.2)
    verdict = on_device(doubling("    if x.shape[1:] == (2, 64, 4):\n        import time\n        time.sleep(0.02)\n    return x + x\n"))

    assert (verdict.word, verdict.score) == (Word.PASSED, 5)
    assert "of the reference's throughput" in check(verdict, "is-fast").message


def test_an_answer_that_is_remembered_shows_in_a_race(on_device):
    verdict = on_device("import torch\nCACHE = {}\n" + doubling("    if tuple(x.shape) not in CACHE or x.ndim != 4 or x.shape[2] != 64:\n        CACHE[tuple(x.shape)] = x + x\n"
                                                                "    return CACHE[tuple(x.shape)]\n"))

    assert "isn't that of its own inputs" in check(verdict, "is-fast").message


def test_a_stretch_check_that_runs_out_of_time_keeps_a_verdict_of_passed(on_device, monkeypatch):
    monkeypatch.setattr("attngrade.grading.opening.ON_A_DEVICE", 1)
    verdict = on_device(doubling("    while x.shape[1:] == (2, 64, 4):\n        pass\n    return x + x\n"), Limits(timeout_s=3.0))

    assert (verdict.word, verdict.score, check(verdict, "is-fast").reason) == (Word.PASSED, 5, Reason.TIMEOUT)


# ---------------------------------------------------------------- nothing but a device makes a verdict of `passed`


def test_no_run_is_taken_for_one_on_a_device_where_the_host_sees_none(exercise, monkeypatch):
    for name in ("CUDA_VISIBLE_DEVICES", "TRITON_INTERPRET", "ATTNGRADE_DEVICE", "ATTNGRADE_GPU", "NVIDIA_VISIBLE_DEVICES"):
        monkeypatch.setenv(name, "0")
    monkeypatch.setattr(devices, "NODE", "/dev/no-such-driver")

    with pytest.raises(devices.NoDevice, match="attngrade doctor"):
        grade(exercise, RIGHT.encode(), device="cuda", isolation="process")


def test_an_exercise_is_checked_on_a_device_if_it_needs_one_and_there_is_one(exercise, monkeypatch):
    no_gpu = dataclasses.replace(exercise, gpu=False)
    chosen = []
    for there in (True, False):
        monkeypatch.setattr(devices, "seen", lambda there=there: there)
        chosen += [devices.best_for(exercise), devices.best_for(no_gpu)]

    assert chosen == ["cuda", "cpu", "cpu", "cpu"]


def test_a_plain_file_is_no_driver(tmp_path, monkeypatch):
    node = tmp_path / "nvidiactl"
    node.touch()
    monkeypatch.setattr(devices, "NODE", str(node))

    assert not devices.seen()


@pytest.mark.parametrize("isolation", ["bubblewrap", "process"])
def test_a_submission_that_acts_as_if_there_were_a_device_stays_provisional(exercise, isolation):
    boast = ("import os, sys\nos.environ.update(TRITON_INTERPRET='0', ATTNGRADE_DEVICE='cuda', CUDA_VISIBLE_DEVICES='0')\n"
             "torch_cuda = sys.modules['torch'].cuda\ntorch_cuda.is_available = lambda: True\ntorch_cuda.device_count = lambda: 8\n"
             "for name, module in list(sys.modules.items()):\n    if name.endswith('devices'):\n        module.kind = lambda tensor: 'cuda'\n"
             "    for value in list(vars(module).values()) if module else ():\n        if type(value).__name__ == 'Session':\n            value.device = 'cuda'\n")
    verdict = grade(exercise, (boast + RIGHT).encode(), seed=1, isolation=isolation)

    assert (verdict.word, verdict.reason, verdict.device) == (Word.PROVISIONAL, Reason.NO_GPU, "cpu")
    assert {c.id for c in verdict.checks if c.outcome is Outcome.SKIPPED} == {"doubles-on-the-device", "memory-on-the-device", "is-fast"}


def test_a_plan_has_no_field_for_an_imitation():
    from attngrade.sandbox.jail import Plan

    assert {field.name for field in dataclasses.fields(Plan)} == {"imports", "framework", "device", "memory_mib", "hidden"}
