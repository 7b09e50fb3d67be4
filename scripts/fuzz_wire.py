"""Fuzz the host's side of the wire: mutated frames, kept as seeds where they reach lines of ``wire.py`` in an order not seen before.

    python scripts/fuzz_wire.py 1000000

Ends with a non-zero code at the first frame that raises anything but a WireError, takes longer than a second, or gives an array that doesn't fit its bytes.
"""

from __future__ import annotations

import json
import random
import resource
import struct
import sys
import time
from types import FrameType
from typing import Any

import numpy as np
from attngrade.sandbox import wire
from attngrade.sandbox.scrub import clean

SEEDS: list[dict[str, Any]] = [
    {"id": 1, "value": None},
    {"id": 2, "value": (1, 2.5, "x", True), "touched": ["random"], "mutated": ["0"]},
    {"id": 3, "value": {"a": [wire.Array(np.arange(6.0).reshape(2, 3), "float64", "ndarray", {"contiguous": True})]}},
    {"id": 4, "value": wire.Array(np.zeros((0, 3), np.uint16), "bfloat16"), "grads": (wire.Array(np.ones(3, np.float32), "float32"),)},
    {"id": 5, "raised": {"type": "ValueError", "bases": ["ValueError"], "message": "no", "line": 3}},
    {"id": 6, "value": wire.Opaque("Lazy")},
    {"id": 7, "value": wire.Generator(3), "device": wire.Device("cpu"), "launches": [("kernel", (1, 2), 3)]},
]
TOKENS = [
    b"-1",
    b"1e999",
    b"NaN",
    b"null",
    b"true",
    b'"array"',
    b'{"array":',
    b'{"list":[',
    b'{"tuple":[',
    b'{"dict":[["a",',
    b"]",
    b"}",
    b"18446744073709551616",
    b"268435456",
    b'"float64"',
    b'"object"',
    b'"\\ud800"',
    b"[]",
    b"{}",
    b'"shape"',
    b'"size"',
    b"9" * 5000,
    b'{"pickle":',
    b"\xff",
    b'{"list":[' * 40,
]
SLOW_S = 1.0


class Coverage:
    """Which steps between lines of the wire have been seen; a trace function while one frame is read."""

    def __init__(self) -> None:
        self.steps: set[tuple[int, int]] = set()
        self.new, self.last = False, 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_filename != wire.__file__:
            return None
        step = (self.last, frame.f_lineno)
        self.last = frame.f_lineno
        if step not in self.steps:
            self.steps.add(step)
            self.new = True
        return self


def mutate(data: bytes, rng: random.Random, corpus: list[bytes]) -> bytes:
    """A frame with a few things wrong with it."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        at = rng.randrange(len(changed) + 1)
        move = rng.randrange(6)
        if move == 0 and changed:
            changed[at % len(changed)] ^= 1 << rng.randrange(8)
        elif move == 1:
            changed[at:at] = rng.choice(TOKENS)
        elif move == 2:
            del changed[at : at + rng.randrange(1, 12)]
        elif move == 3:
            changed[at : at + rng.randrange(1, 8)] = rng.choice(TOKENS)
        elif move == 4:
            other = rng.choice(corpus)
            cut = rng.randrange(len(other) + 1)
            changed[at:] = other[cut:]
        else:
            changed[at:at] = bytes(changed[at : at + rng.randrange(1, 30)])
    return bytes(changed[:20_000])


def mend(data: bytes, rng: random.Random) -> bytes:
    """Mostly with lengths that fit, so that the header is read at all."""
    if rng.random() < 0.1 or len(data) < wire.PREFIX.size + 2:
        return data
    body = data[wire.PREFIX.size :]
    header = len(body) if rng.random() < 0.5 else min(len(body), struct.unpack("<4sIQ", data[: wire.PREFIX.size])[1])
    return wire.PREFIX.pack(wire.MAGIC, header, len(body) - header) + body


def read(data: bytes) -> str:
    """What the host does with a frame; anything but a message or a WireError is raised."""
    try:
        header, payload = wire.lengths(data[: wire.PREFIX.size].ljust(wire.PREFIX.size, b"\0"))
        rest = data[wire.PREFIX.size :]
        message = wire.unpack(rest[:header], rest[header : header + min(payload, len(rest))])
    except wire.WireError:
        return "refused"
    check(message, len(data))
    clean(message)
    return "read"


def check(value: Any, size: int) -> None:
    """Every array of a message lies within its frame."""
    if isinstance(value, wire.Array):
        assert value.data.nbytes <= size and value.dtype in wire.STORAGE
    elif isinstance(value, (list, tuple)):
        for item in value:
            check(item, size)
    elif isinstance(value, dict):
        for item in value.values():
            check(item, size)


def main() -> None:
    """Fuzz as many frames as asked."""
    frames, rng, coverage = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 0), Coverage()
    corpus = [b"".join(bytes(piece) for piece in wire.pack(seed)) for seed in SEEDS]
    told = {"read": 0, "refused": 0}
    slowest, started = 0.0, time.monotonic()
    for _ in range(frames):
        data = mend(mutate(rng.choice(corpus), rng, corpus), rng)
        coverage.new, before = False, time.process_time()
        sys.settrace(coverage)
        try:
            told[read(data)] += 1
        except BaseException:
            sys.settrace(None)
            sys.exit(f"a frame broke the reader:\n{data!r}")
        sys.settrace(None)
        slowest = max(slowest, time.process_time() - before)
        if coverage.new and len(corpus) < 2000:
            corpus.append(data)
    report = {
        "frames": frames,
        **told,
        "steps": len(coverage.steps),
        "seeds": len(corpus),
        "slowest_s": round(slowest, 4),
        "seconds": round(time.monotonic() - started, 1),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
    }
    print(json.dumps(report))
    sys.exit(slowest > SLOW_S)


if __name__ == "__main__":
    main()
