"""Exercise 06, claim by claim: what only a GPU can show."""

import itertools
import math

import numpy as np
import pytest
from attngrade.checks.claims import after, claim, expect, gpu_only, of, points, stretch
from attngrade.checks.online_claims import FLASH, MIB, flash, held, is_answer, sizes, stayed_inside
from attngrade.checks.online_oracles import LAYOUTS, TOLERANCE, as_held, attention, peak_at, qkv, rising, steered


@points(2)
@gpu_only
@of(FLASH)
def test_kernel_in_bfloat16(submission, rng):
    """In bfloat16 the kernel gives attention and lse on the GPU: causal and not, every width, uneven lengths, any strides, NaN around every tensor."""
    for (t_q, t_k, width), causal in itertools.product([(1, 1, 16), (37, 70, 32), (131, 257, 64), (200, 150, 128)], (False, True)):
        arrays, case = qkv(rng, t_q, t_k, width=width, dtype="bfloat16"), f"T_q={t_q}, T_k={t_k}, Dh={width}, {'causal' if causal else 'not causal'}, bfloat16"
        got = submission.flash_attention(*held(arrays, "bfloat16", guard=4096), causal=causal, _fence=True)
        is_answer(got, attention(*arrays, causal), "bfloat16", FLASH, case)
        stayed_inside(submission, got, case)
        claim(got[0].device == got[1].device == "cuda", f"{FLASH}: the inputs lie on the GPU and the results don't", got=got, case=case)
    for name, layout in LAYOUTS:
        arrays = qkv(rng, 37, 70, width=64, dtype="bfloat16")
        got = submission.flash_attention(*held(arrays, "bfloat16", **layout, guard=4096), causal=True, _fence=True)
        is_answer(got, attention(*arrays, True), "bfloat16", FLASH, f"{name}, {sizes(*arrays[:2], True)}, bfloat16")


@points(2)
@gpu_only
@of(FLASH)
@after("kernel-agrees-with-attention", "causal-kernel")
def test_kernel_at_length_on_the_gpu(submission, rng):
    """At lengths of a thousand, with thousands of programs at once, results stay right in every dtype, call after call, however the scores lie."""
    for (t_q, t_k), causal, dtype in itertools.product([(1000, 1000), (513, 1500)], (False, True), ("float32", "float16", "bfloat16")):
        arrays = qkv(rng, t_q, t_k, batch=2, heads=2, width=64, dtype=dtype)
        want = attention(*arrays, causal)
        for _ in range(2):
            is_answer(flash(submission, arrays, causal, dtype), want, dtype, FLASH, f"{sizes(*arrays[:2], causal)}, {dtype}")
    courses = {"rising from -50 to 50": rising(1500, 50.0), "scores near -200": -200 + np.cos(np.arange(1500)), "rising from -250 to -150": rising(1500, -150.0),
               "peak at the last key": peak_at(1499, 1500, 40.0)}
    for (case, wanted), (dtype, width) in itertools.product(courses.items(), [("float32", 32), ("float16", 64)]):
        arrays = steered(rng, wanted, width, t_q=200, dtype=dtype)
        is_answer(flash(submission, arrays, dtype=dtype), attention(*arrays), dtype, FLASH, f"{case}, T_q=200, T_k=1500, Dh={width}, {dtype}")
    arrays = qkv(rng, 1500, 100, heads=2, width=64, dtype="bfloat16")  # whole tiles of rows that see nothing
    is_answer(flash(submission, arrays, True, "bfloat16"), attention(*arrays, True), "bfloat16", FLASH, f"{sizes(*arrays[:2], True)}, bfloat16")
    q, k, v = *(np.full((1, 2, t, 128), 30.0) for t in (300, 700)), rng.choice([-65504.0, 65504.0, 1e-7], (1, 2, 700, 128))
    arrays = tuple(as_held(x, "float16") for x in (q, k, v))
    is_answer(flash(submission, arrays, dtype="float16"), attention(*arrays), "float16", FLASH, "q . k = 115200 and values of 65504, the ends of float16")


@points(1)
@gpu_only
@of(FLASH)
@after("kernel-at-length-on-the-gpu")
def test_device_memory_is_linear(submission, rng):
    """On the GPU a call takes memory for out and lse and O(B * H * T_q) beyond them, as its allocator counts and as the driver tells the grader."""
    arrays = held(qkv(rng, 2048, 4096, batch=1, heads=4, width=64, dtype="float16"), "float16", gap=8)
    submission.flash_attention(*arrays)  # compiles, and takes what a library keeps
    out, rows, case = arrays[0].data.nbytes, 4 * 2048, "T_q=2048, T_k=4096, Dh=64, float16, padded rows"
    told, grown, seen = f"out and lse are {(out + 4 * rows) / MIB:.1f} MiB", math.inf, math.inf
    for _ in range(3):  # again if it looks too much: where processes can't be told apart the driver counts those of others too
        if max(grown - out - 64 * rows - MIB, seen - 64 * MIB) > 0:
            got = submission.flash_attention(*arrays, _gauged=True)
            grown, seen = min(grown, submission.device_bytes()), min(seen, submission.seen_bytes() or 0)
    claim(grown <= out + 64 * rows + MIB, f"{FLASH}: the call took {grown / MIB:.1f} MiB on the device; {told}", got=got, case=case)
    claim(seen <= 64 * MIB, f"{FLASH}: the driver saw the process grow by {seen / MIB:.0f} MiB during the call; {told}, all scores would be "
          f"{2 * rows * 4096 / MIB:.0f} MiB", got=got, case=case)


@stretch(4)
@gpu_only
@of(FLASH)
@after("kernel-in-bfloat16", "kernel-at-length-on-the-gpu")
def test_kernel_is_fast(submission, rng):
    """At B*H = 32, T = 4096, Dh = 64, bfloat16 the kernel has at least 60% of the reference kernel's throughput, causal and not (speed is advisory)."""
    for causal in (False, True):
        case = f"B*H = 32, T = 4096, Dh = 64, bfloat16, {'causal' if causal else 'not causal'}"
        race = submission.race(FLASH, *held(qkv(rng, 4096, 4096, batch=2, heads=16, width=64, dtype="bfloat16"), "bfloat16"), axis=2, depth=3, rng=rng, causal=causal)
        if race is None:
            pytest.skip("Not measured: the reference kernel could not be run beside this one.")
        for sample in race.samples:
            is_timed_answer(sample, causal, case)
        own, other = (1e3 * min(seconds) for seconds in (race.seconds, race.reference_seconds))
        claim(race.ratio >= 0.6, f"{FLASH}: {race.ratio:.0%} of the reference kernel's throughput where 60% was asked ({own:.3g} ms a call against {other:.3g}, the best of "
              f"{len(race.seconds)} laps each, in turn on one device). Speed is advisory: it is measured, not defended against tricks", case=case)


def is_timed_answer(sample, causal, case):
    """One row of a timed call is attention over exactly the inputs of that call."""
    row, (q, k, v) = sample.place[-1], sample.given
    seen = row + 1 if causal else len(k)  # as many keys as queries
    want = attention(q[None, None, row : row + 1], k[None, None, :seen], v[None, None, :seen])
    values = sample.values if len(sample.values) == 2 else (None, None)
    because = "A timed call's result isn't that of its own inputs"
    expect(values[0], want[0][0, 0, 0], dtype="bfloat16", case=f"out of a timed call, {case}", because=because)
    expect(values[1], want[1][0, 0, 0], dtype="float32", tol=TOLERANCE["bfloat16"], scale=max(1.0, abs(float(want[1][0, 0, 0]))), case=f"lse of a timed call, {case}",
           because=because)
