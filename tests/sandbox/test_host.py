"""The host against a worker that behaves as no worker would: every end is a typed error, in time, and nothing is left running."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator

import pytest
from attngrade.sandbox import jail
from attngrade.sandbox.errors import Raised, StartFailed, WorkerDied, WorkerError, WorkerGarbage, WorkerMemory, WorkerTimeout
from attngrade.sandbox.host import PRINTED_CAP, Worker, raise_if_raised

TOOLS = """
import json, os, struct, sys, time
RECEIVE, SEND = int(sys.argv[1]), int(sys.argv[2])
def frame(message, payload=b""):
    header = json.dumps(message).encode()
    return struct.pack("<4sIQ", b"ATG1", len(header), len(payload)) + header + payload
def say(message, payload=b""):
    os.write(SEND, frame(message, payload))
def heard():
    prefix = b""
    while len(prefix) < 16:
        prefix += os.read(RECEIVE, 16 - len(prefix))
    _, header, payload = struct.unpack("<4sIQ", prefix)
    text = b""
    while len(text) < header + payload:
        text += os.read(RECEIVE, header + payload - len(text))
    return json.loads(text[:header])
say({"id": 0})
"""


def impostor(script: str) -> jail.Start:
    """A process that speaks for itself in a worker's place."""
    inward, outward, printed = os.pipe(), os.pipe(), os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", TOOLS + textwrap.dedent(script), str(inward[0]), str(outward[1])],
        stdin=subprocess.DEVNULL,
        stdout=printed[1],
        stderr=printed[1],
        pass_fds=(inward[0], outward[1]),
        start_new_session=True,
    )
    for fd in (inward[0], outward[1], printed[1]):
        os.close(fd)
    for fd in (inward[1], outward[0], printed[0]):
        os.set_blocking(fd, False)
    return jail.Start(process, inward[1], outward[0], printed[0], "process")


class Against:
    """A host that faces an impostor."""

    def __init__(self) -> None:
        self.workers: list[Worker] = []

    def __call__(self, script: str, seconds: float = 3.0) -> Worker:
        worker = Worker(jail.Plan(memory_mib=512), "process", impostor(script))
        worker.wait_ready()
        worker.deadline = time.monotonic() + seconds
        self.workers.append(worker)
        return worker


@pytest.fixture
def against() -> Iterator[Against]:
    against = Against()
    yield against
    for worker in against.workers:
        worker.close()
        assert worker._start.process.poll() is not None


ENDS = {
    "an honest reply": ('say({"id": heard()["id"], "value": 1})', None),
    "another's number": ('heard(); say({"id": 5, "value": 1})', WorkerGarbage),
    "true for a number": ('heard(); say({"id": True, "value": 1})', WorkerGarbage),
    "no number": ('heard(); say({"value": 1})', WorkerGarbage),
    "not a frame": ('heard(); os.write(SEND, b"hello, world, how are you?")', WorkerGarbage),
    "a frame without an end": ('heard(); os.write(SEND, struct.pack("<4sIQ", b"ATG1", 64, 0)); time.sleep(9)', WorkerTimeout),
    "a frame cut off": ('heard(); os.write(SEND, struct.pack("<4sIQ", b"ATG1", 64, 0))', WorkerDied),
    "silence": ("heard(); time.sleep(9)", WorkerTimeout),
    "leaving": ("heard()", WorkerDied),
    "leaving with code 0": ("heard(); os._exit(0)", WorkerDied),
    "a signal": ("heard(); os.kill(os.getpid(), 11)", WorkerDied),
    "half closed": ("heard(); os.close(SEND); time.sleep(9)", WorkerDied),
    "deaf": ("os.close(RECEIVE); time.sleep(9)", (WorkerDied, WorkerTimeout)),  # as the first word is written before or after
    "an orphan that holds the pipe": ("heard()\nif os.fork() == 0:\n    os.setsid(); time.sleep(6)\nos._exit(0)", WorkerDied),
    "byte by byte, slowly": (
        'n = heard()["id"]\nfor octet in frame({"id": n, "value": 1}):\n    os.write(SEND, bytes([octet])); time.sleep(0.2)',
        WorkerTimeout,
    ),
    "byte by byte, fast": ('n = heard()["id"]\nfor octet in frame({"id": n, "value": 1}):\n    os.write(SEND, bytes([octet]))', None),
    "a flood": ('heard()\nwhile True:\n    os.write(SEND, b"x" * 65536)', WorkerGarbage),
    "too much memory": ("heard(); held = bytearray(700 << 20); time.sleep(9)", WorkerMemory),
    "a reply and more": ('say({"id": heard()["id"], "value": 1, "verdict": "passed", "score": 9})', None),
}


@pytest.mark.parametrize("end", ENDS)
def test_every_end_is_a_typed_error_in_time(end: str, against: Against) -> None:
    script, expected = ENDS[end]
    worker, started = against(script), time.monotonic()

    if expected is None:
        assert worker.ask({"op": "call"})["value"] == 1
    else:
        with pytest.raises(expected):
            worker.ask({"op": "call"})
    assert time.monotonic() - started < 8


def test_after_an_end_every_question_ends_alike(against: Against) -> None:
    worker = against("heard()")
    with pytest.raises(WorkerDied):
        worker.ask({"op": "call"})

    with pytest.raises(WorkerDied):
        worker.ask({"op": "call"})


def test_an_answer_before_the_question_is_garbage(against: Against) -> None:
    worker = against('say({"id": heard()["id"], "value": 1}); say({"id": 7, "value": 1}); time.sleep(9)')
    worker.ask({"op": "call"})
    time.sleep(0.2)

    with pytest.raises(WorkerGarbage, match="without being asked"):
        worker.ask({"op": "call"})


def test_a_flood_of_output_is_read_and_cut(against: Against) -> None:
    worker = against('n = heard()["id"]\nfor _ in range(400):\n    os.write(1, b"y" * 65536)\nsay({"id": n, "value": 1})', seconds=20)

    assert worker.ask({"op": "call"})["value"] == 1
    assert len(worker.printed) == PRINTED_CAP
    assert worker.printed_in_all > PRINTED_CAP


def test_a_large_question_to_a_worker_that_does_not_read_meets_the_deadline(against: Against) -> None:
    worker = against("time.sleep(9)", seconds=0.5)

    with pytest.raises(WorkerTimeout):
        worker.ask({"op": "load", "source": ["x" * 8000] * 100})


def test_text_in_a_reply_arrives_harmless(against: Against) -> None:
    worker = against('say({"id": heard()["id"], "value": "\\x1b[2J\\ud800\\u202e", "raised": {"dict": [["type", "\\x1b[1A"], ["message", "a\\n::error::b"]]}})')
    reply = worker.ask({"op": "call"})

    with pytest.raises(Raised) as error:
        raise_if_raised(reply, "f")
    assert "\x1b" not in str(error.value) and "\n" not in str(error.value)
    assert reply["value"].isprintable()


def test_an_error_of_a_worker_is_no_value_error() -> None:
    assert not any(issubclass(kind, ValueError) for kind in (WorkerError, WorkerDied, WorkerGarbage, WorkerMemory, WorkerTimeout, Raised))


def test_a_worker_that_does_not_start_is_the_graders_fault() -> None:
    inward, outward, printed = os.pipe(), os.pipe(), os.pipe()
    process = subprocess.Popen(["/bin/false"], start_new_session=True)
    for fd in (inward[0], outward[1], printed[1]):
        os.close(fd)
    for fd in (inward[1], outward[0], printed[0]):
        os.set_blocking(fd, False)

    with pytest.raises(StartFailed, match="doctor"):
        Worker(jail.Plan(), "process", jail.Start(process, inward[1], outward[0], printed[0], "process")).wait_ready()
