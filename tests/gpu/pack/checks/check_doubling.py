"""Claims about a function that doubles, some of which only a GPU can show."""

import numpy as np
import pytest
from attngrade.checks.claims import claim, expect, gpu_only, of, points, stretch, tensor

MIB = 1 << 20


@points(1)
@of("plain")
def test_plain_doubles(submission, rng):
    """The plain function doubles."""
    x = rng.standard_normal((2, 3))
    expect(submission.plain(x), 2 * x)


@points(1)
@of("double")
def test_doubles(submission, rng):
    """Every element is doubled."""
    x = rng.standard_normal((2, 3, 5, 4))
    expect(submission.double(x), 2 * x)


@points(1)
@of("double")
def test_doubles_a_vector(submission, rng):
    """A vector is doubled as well."""
    x = rng.standard_normal(7)
    expect(submission.double(x), 2 * x)


@points(1)
@gpu_only
@of("double")
def test_doubles_on_the_device(submission, rng):
    """On the device the result lies there, and nothing around the input shows or is changed."""
    x = rng.standard_normal((6, 5)).astype("float32")
    got = submission.double(tensor(x, guard=64, gap=3))
    expect(got, 2 * x, dtype="float32")
    claim(got.device == "cuda", "double: the result doesn't lie on the device", got=got)
    claim(not submission.mutated(got), "double: the input, or what lies around it, was changed", got=got)


@points(1)
@gpu_only
@of("double")
def test_memory_on_the_device(submission):
    """A call takes memory for its result and nothing else, as the allocator and the driver tell it."""
    got = submission.double(np.ones(1 << 18, dtype="float32"), _gauged=True)
    claim(submission.device_bytes(got) <= 1.5 * MIB, f"double: {submission.device_bytes(got) / MIB:.0f} MiB by the allocator", got=got)
    seen = submission.seen_bytes(got)
    claim((seen or 0) <= 8 * MIB, f"double: {(seen or 0) / MIB:.0f} MiB by the driver", got=got)


@stretch(2)
@gpu_only
@of("double")
def test_is_fast(submission, rng):
    """The function has at least half of the reference's throughput (speed is advisory)."""
    race = submission.race("double", rng.standard_normal((1, 2, 64, 4)).astype("float32"), axis=2, depth=3, rng=rng)
    if race is None:
        pytest.skip("Not measured.")
    for sample in race.samples:
        expect(sample.values[0], 2 * sample.given[0][sample.place[-1]], dtype="float32", because="A timed call's result isn't that of its own inputs")
    claim(race.ratio >= 0.5, f"double: {race.ratio:.0%} of the reference's throughput")
