"""Exercise 06, claim by claim: the Triton kernel.

The interpreter is slow, so the kernel meets small inputs: sizes around its tile edges come from lengths that no power of two divides, and
every trap of the contract is set with as few queries as show it.
"""

import itertools
import math

import numpy as np
import pytest
from attngrade.checks.claims import Raised, Result, after, arguments, claim, disown, expect, gpu_only, of, points, refuses, stretch, tensor
from attngrade.checks.online_claims import FLASH, MIB, held, history, is_answer, misfits, sizes, usable
from attngrade.checks.online_oracles import LAYOUTS, TOLERANCE, as_held, attention, crumbs, level, peak_at, qkv, rising, steered

FLASH_DTYPES = ("float32", "float16")


def flash(submission, arrays, causal=False, dtype="float32", **options):
    """The kernel's result; the fence keeps stray writes off the memory of the process, so that they are seen and not died of."""
    return submission.flash_attention(*held(arrays, dtype), causal=causal, **{"_fence": True, **options})


def poisoned(got):
    """The sentence for NaN where every input is finite and every query sees a key; None for any other result."""
    parts = got if isinstance(got, tuple) else ()
    if not any(isinstance(part, Result) and part.array.dtype.kind == "f" and np.isnan(part.array).any() for part in parts):
        return None
    return "Every input is finite: a load past the end without a mask (or without other=0.0) brings in what lies there, and 0 times NaN is NaN; so is -inf minus -inf."


def in_memory(submission, arrays, dtype, want, causal=True):
    """The sentence for a kernel that is right where tensors are contiguous."""
    plain = submission.flash_attention(*held(arrays, dtype), _fence=True, **({"causal": True} if causal else {}))
    return "Contiguous tensors come out right: q, k and v each have strides of their own, for batch, head and row; hand all of them to the kernel." if is_near(plain, want) else None


def is_near(got, want):
    """Whether the outputs are right to a few digits."""
    return isinstance(got, tuple) and len(got) > 0 and near(got[0], want[0])


def near(part, right):
    """Whether a result is right to a few digits."""
    return usable(part, right) and bool(np.isfinite(part.array).all()) and np.abs(part.array - right).max() <= 4e-3 * np.abs(right).max()


def shrunk(got, want):
    """The sentence for an output that is the only key's value times a number below 1; None for any other."""
    out = getattr(got[0], "array", None) if isinstance(got, tuple) and got else None
    if out is None or out.shape != want[0].shape or out.dtype.kind != "f":
        return None
    ratio = out.astype(np.float64).ravel() / want[0].ravel()
    if not np.ptp(ratio) < 1e-2 * abs(ratio[0]) or not 0 < ratio[0] < 0.98:
        return None
    return f"One key alone gives its own value; yours is {ratio[0]:.2g} of it: what fills up the tile beyond the last key counts as keys of score 0."


@points(3)
@of(FLASH)
def test_kernel_agrees_with_attention(submission, rng):
    """The kernel gives attention and the natural log of its normaliser, for every width and for lengths that no tile divides."""
    for (t_q, t_k, width, batch, heads), dtype in itertools.product([(1, 1, 16, 1, 1), (1, 1, 16, 1, 1), (2, 3, 32, 3, 3), (5, 7, 64, 2, 1), (3, 70, 128, 1, 2)], FLASH_DTYPES):
        arrays = qkv(rng, t_q, t_k, batch=batch, heads=heads, width=width, dtype=dtype)
        got, want = flash(submission, arrays, dtype=dtype), attention(*arrays)
        is_answer(got, want, dtype, FLASH, f"{sizes(*arrays[:2], False)}, {dtype}", poisoned(got) or (shrunk(got, want) if t_k == 1 else None))
    for t_q, t_k, width in [(16, 32, 32), (131, 67, 16), (33, 137, 64)]:
        arrays = qkv(rng, t_q, t_k, batch=1, heads=1, width=width, dtype="float32")
        is_answer(flash(submission, arrays), attention(*arrays), "float32", FLASH, f"{sizes(*arrays[:2], False)}, float32")
    q, k, v = held(qkv(rng, 2, 3, width=16, dtype="float32"), "float32")
    want = attention(*(x.data for x in (q, k, v)), True)
    is_answer(submission.flash_attention(q=q, k=k, v=v, causal=True, _fence=True), want, "float32", FLASH, "arguments by name, causal")
    is_answer(submission.flash_attention(q, k, v, _fence=True), attention(q.data, k.data, v.data), "float32", FLASH, "without `causal`")


@points(3)
@of(FLASH)
def test_causal_kernel(submission, rng):
    """Causal: the last query sits on the last key, in every tile, with as many keys as queries or more."""
    for (t_q, t_k), dtype in itertools.product([(2, 2), (3, 5), (1, 6), (5, 5), (4, 37)], FLASH_DTYPES):
        arrays = qkv(rng, t_q, t_k, heads=2, width=16, dtype=dtype)
        is_answer(flash(submission, arrays, True, dtype), attention(*arrays, True), dtype, FLASH, f"{sizes(*arrays[:2], True)}, {dtype}")
    for width, dtype in itertools.product((32, 64, 128), FLASH_DTYPES):
        arrays = qkv(rng, 5, 9, batch=1, heads=1, width=width, dtype=dtype)
        is_answer(flash(submission, arrays, True, dtype), attention(*arrays, True), dtype, FLASH, f"{sizes(*arrays[:2], True)}, {dtype}")
    for t_q, t_k, width in [(64, 64, 32), (128, 129, 16), (131, 139, 16), (35, 150, 32), (2, 300, 16)]:  # 128, 129: the last row's last key begins a tile, of whatever size
        arrays = qkv(rng, t_q, t_k, batch=1, heads=1, width=width, dtype="float32")
        is_answer(flash(submission, arrays, True), attention(*arrays, True), "float32", FLASH, f"{sizes(*arrays[:2], True)}, float32")
    q, k, v = qkv(rng, 3, 5, batch=1, heads=1, width=16, dtype="float32")
    k[:, :, 3:] *= 1e4  # keys 3 and 4: the future of query 0
    got = flash(submission, (q, k, v), True)
    is_answer(got, attention(q, k, v, True), "float32", FLASH, f"{sizes(q, k, True)}, the last two keys of size 10000, float32")


@points(2)
@of(FLASH)
@after("causal-kernel")
def test_kernel_rows_that_see_nothing(submission, rng):
    """With more queries than keys the first queries see nothing: out is 0 and lse is -inf there, no NaN, in whole tiles too."""
    for (t_q, t_k, heads), dtype in itertools.product([(2, 1, 3), (5, 3, 2), (37, 33, 1)], FLASH_DTYPES):
        arrays = qkv(rng, t_q, t_k, batch=1, heads=heads, width=16, dtype=dtype)
        is_answer(flash(submission, arrays, True, dtype), attention(*arrays, True), dtype, FLASH, f"{sizes(*arrays[:2], True)}, {dtype}")
    arrays = qkv(rng, int(rng.integers(193, 210)), 5, batch=1, heads=1, width=16, dtype="float32")
    is_answer(flash(submission, arrays, True), attention(*arrays, True), "float32", FLASH, f"{sizes(*arrays[:2], True)}, float32")


@points(2)
@of(FLASH)
@after("kernel-agrees-with-attention")
def test_kernel_scores_of_any_size(submission, rng):
    """The largest score may lie in any tile, scores may rise from tile to tile, or all lie near -125 or 125."""
    n = 139
    courses = {
        "scores near -125": -125 + np.cos(np.arange(n)), "scores near 125": 125 + np.cos(np.arange(n)), "scores near -20": -20 + np.sin(np.arange(n)),
        "rising from -50 to 50": rising(n, 50.0), "falling from 50 to -50": rising(n, 50.0)[::-1], "rising from -210 to -110": rising(n, -110.0),
        **{f"peak at key {place} of {n}, the rest 100 below": peak_at(place, n, 40.0) for place in (1, 70, 138)},
    }
    for case, wanted in courses.items():
        arrays = steered(rng, wanted, 16, heads=1, t_q=2)
        is_answer(flash(submission, arrays), attention(*arrays), "float32", FLASH, case)
    arrays = steered(rng, -125 + np.cos(np.arange(5)), 16, heads=1, t_q=5)
    is_answer(flash(submission, arrays, True), attention(*arrays, True), "float32", FLASH, "scores near -125, T_q = T_k = 5, causal")


@points(1)
@of(FLASH)
@after("kernel-agrees-with-attention")
def test_kernel_accumulates_in_float32(submission, rng):
    """With float16 inputs scores, sums and outputs are accumulated in float32."""
    arrays = *(np.full((1, 1, t, 128), 30.0) for t in (2, 3)), as_held(rng.standard_normal((1, 1, 3, 128)), "float16")
    is_answer(flash(submission, arrays, dtype="float16"), attention(*arrays), "float16", FLASH, "q . k = 115200, beyond float16")
    arrays = np.zeros((1, 1, 1, 16)), np.zeros((1, 1, 2500, 16)), np.full((1, 1, 2500, 16), 40.0)
    is_answer(flash(submission, arrays, dtype="float16"), attention(*arrays), "float16", FLASH, "2500 equal scores, values of 40, float16")
    for width in (32, 64):
        arrays = level(rng, width)
        is_answer(flash(submission, arrays, dtype="float16"), attention(*arrays), "float16", FLASH, f"two keys of one score each, near 200, Dh={width}, float16")
    arrays = crumbs()
    is_answer(flash(submission, arrays, dtype="float16"), attention(*arrays), "float16", FLASH, "600 keys of weight 1, then 3000 of weight 0.002, float16")


@points(2)
@of(FLASH)
def test_kernel_follows_strides(submission, rng):
    """The kernel reads its inputs where they lie: any strides, another layout for each of q, k and v, padding between rows."""
    for (name, layout), dtype in itertools.product(LAYOUTS, FLASH_DTYPES):
        arrays = qkv(rng, 3, 5, width=16, dtype=dtype)
        got, want = submission.flash_attention(*held(arrays, dtype, **layout), causal=True, _fence=True), attention(*arrays, True)
        because = None if is_near(got, want) else in_memory(submission, arrays, dtype, want)
        is_answer(got, want, dtype, FLASH, f"{name}, {sizes(*arrays[:2], True)}, {dtype}", because)
    for odd in range(3):
        arrays = qkv(rng, 3, 5, width=16, dtype="float32")
        layouts = [{"order": (0, 2, 1, 3), "gap": 1} if place == odd else {} for place in range(3)]
        got, want = submission.flash_attention(*(tensor(x, "float32", **layout) for x, layout in zip(arrays, layouts, strict=True)), _fence=True), attention(*arrays)
        because = None if is_near(got, want) else in_memory(submission, arrays, "float32", want, False) and f"The strides of {'qkv'[odd]} are its own: those of another tensor lead past its rows."
        is_answer(got, want, "float32", FLASH, f"{'qkv'[odd]} alone lies as (B, T, H, Dh) with padding", because)


@points(2)
@of(FLASH)
def test_kernel_stays_inside_its_tensors(submission, rng):
    """Tails are masked: nothing is written past a tensor, and what lies behind or between the rows of another never shows."""
    for (t_q, t_k, causal), dtype in itertools.product([(5, 7, False), (3, 3, True), (17, 33, True)], FLASH_DTYPES):
        arrays = qkv(rng, t_q, t_k, batch=1, heads=2, width=16, dtype=dtype)
        got = submission.flash_attention(*held(arrays, dtype, guard=4096), causal=causal, _fence=True)
        case = f"{sizes(*arrays[:2], causal)}, NaN before and after every tensor, {dtype}"
        stayed_inside(submission, got, case)
        is_answer(got, attention(*arrays, causal), dtype, FLASH, case)
        gaps = submission.flash_attention(*held(arrays, dtype, guard=4096, gap=7), causal=causal, _fence=True)
        is_answer(gaps, attention(*arrays, causal), dtype, FLASH, f"{sizes(*arrays[:2], causal)}, NaN between the rows, {dtype}")


@points(4)
@of(FLASH)
@after("kernel-stays-inside-its-tensors")
def test_one_launch_does_the_work(submission, rng, device):
    """One launch of your own @triton.jit kernel computes out and lse from the inputs where they lie: no copies, no partial outputs."""
    drawn = int(rng.integers(17, 40)), int(rng.integers(40, 80))
    for (t_q, t_k), causal, dtype in [((3, int(rng.integers(260, 300))), False, "float32"), ((5, 5), True, "float32"), (drawn, True, "float16")]:
        arrays, others = (qkv(rng, t_q, t_k, batch=1, heads=2, width=32, dtype=dtype) for _ in range(2))
        case, want = sizes(*arrays[:2], causal), attention(*arrays, causal)
        alone = qkv(rng, t_q, t_k + 1, batch=1, heads=2, width=32, dtype=dtype)  # of a size of its own: what is remembered of it comes back in no other call
        without_kernel(lambda alone=alone, causal=causal, dtype=dtype: flash(submission, alone, causal, dtype, _decoy=True), attention(*alone, causal), sizes(*alone[:2], causal))
        got = examined(lambda arrays=arrays, others=others, causal=causal, dtype=dtype: flash(submission, others, causal, dtype, _during=held(arrays, dtype), _examined=True))
        in_any_order(submission.last, got, case)
        is_answer(got, want, dtype, FLASH, f"{case}, {dtype}, other values while the kernel runs",
                  worked_out_outside(submission, got, want, held(arrays, dtype), causal))
        outside = attention(*others, causal)
        if isinstance(got, tuple) and any(near(part, right) for part, right in zip(got, outside, strict=False)):
            disown(FLASH, "gives what its kernel computes")
        launched(len(submission.launches(got)) if isinstance(got, tuple) else 0, got, case)
        finished(submission.last, got, case)
    programs, tile = everywhere(submission, rng)
    for call in submission.calls:  # all that was asked so far: every shape, dtype and layout
        if call.function == FLASH and call.raised is None and call.replayable:
            launched(len(call.launches), None, "in an earlier call: " + arguments(call))
            q = call.message["kwargs"].get("q", (*call.message["args"], None)[0])
            frugal(call.launches, q.data.shape, None, "in an earlier call: " + arguments(call), beside=1024)
            finished(call, None, "in an earlier call: " + arguments(call))
    no_copies(submission, rng)
    if device == "cpu":
        a_tile_at_a_time(submission, rng, programs, tile)


def a_tile_at_a_time(submission, rng, programs, tile):
    """The kernel walks over the keys, and ``programs`` share some hundred queries with tensors of ``tile`` numbers; one tile that holds them all ends where a GPU's registers do."""
    values = qkv(rng, 1, 4096, batch=1, heads=1, width=128, dtype="float16")
    arrays, taken, got = held(values, "float16"), math.inf, None
    for _ in range(6):  # again if it looks too much: the system counts other things as well
        if taken >= 4 * MIB:
            got = submission.flash_attention(*arrays)
            taken = min(taken, submission.last.kernel_bytes)  # of the kernel alone: what stands in for a wrong one runs elsewhere
    claim(taken < 4 * MIB, f"{FLASH}: for one query and 4096 keys the kernel took {taken / MIB:.1f} MiB beside its tensors, where tiles of 128 keys take less than one. "
          "It looks as if one tile held all keys, which fits into no GPU; walk over them, with a running maximum, sum and output", got=got, case=sizes(*values[:2], False))
    is_answer(got, attention(*values), "float16", FLASH, f"{sizes(*values[:2], False)}, float16")
    if programs is None or programs > 1:
        return
    values = qkv(rng, 2048, 3, batch=1, heads=1, width=128, dtype="float16")
    got = examined(lambda: submission.flash_attention(*held(values, "float16"), _examined=True))
    grown = largest(submission.last) / max(1, tile)
    claim(grown < 6, f"{FLASH}: with 2048 queries the largest tensor of the kernel has {grown:.0f} times the numbers that it has with some hundred: one tile holds all queries, "
          "which fits into no GPU; give each program a tile of them", got=got, case=sizes(*values[:2], False))
    is_answer(got, attention(*values), "float16", FLASH, f"{sizes(*values[:2], False)}, float16")


def largest(call):
    """Numbers in the largest tensor of a call's kernel, as its compiler reads it; 1 where that isn't known."""
    return max((launch.get("largest", 1) for launch in call.launches), default=1)


def everywhere(submission, rng):
    """The kernel computes what comes back at every width, in every layout, in one tile and in several. Gives how many programs shared the longest queries of one head, and how large their tensors were."""
    programs, tile = None, 1
    several = int(rng.integers(33, 80)), int(rng.integers(130, 160))
    tall = int(rng.integers(70, 140)), int(rng.integers(150, 200))
    plain = "contiguous", {}
    for case, ((t_q, t_k), width, batch, causal, dtype, (name, layout)) in enumerate([
        (several, 16, 2, True, "float32", LAYOUTS[int(rng.integers(len(LAYOUTS)))]), ((2, 3), 128, int(rng.integers(4, 7)), False, "float16", plain),
        ((4, int(rng.integers(66, 90))), 64, 2, bool(rng.integers(2)), "float32", plain), ((int(rng.integers(4, 8)), 3), 16, 2, True, "float16", LAYOUTS[1]),
        (tall, int(rng.choice([64, 128])), 1, True, "float16", plain), ((2, int(rng.integers(310, 600))), int(rng.choice([16, 32])), 1, True, "float32", plain),
    ]):
        arrays, others = (qkv(rng, t_q, t_k, batch=batch, heads=1, width=width, dtype=dtype) for _ in range(2))
        own, secret = (held(some, dtype, **layout) for some in (others, arrays))
        got = examined(lambda own=own, secret=secret, causal=causal, case=case: submission.flash_attention(*own, causal=causal, _fence=True, _during=secret, _examined=case in (0, 1, 4)))
        in_any_order(submission.last, got, sizes(*arrays[:2], causal))
        want, told = attention(*arrays, causal), f"{sizes(*arrays[:2], causal)}, {name}, {dtype}, other values while the kernel runs"
        if (t_q, t_k) == tall:
            programs = max((math.prod(launch["grid"]) for launch in submission.last.launches), default=1)
            tile = largest(submission.last)
        is_answer(got, want, dtype, FLASH, told, worked_out_outside(submission, got, want, held(arrays, dtype, **layout), causal))
    return programs, tile


def launched(n, got, case):
    """Exactly one kernel."""
    claim(n > 0, f"{FLASH}: no @triton.jit kernel of this file was launched; part 3 has to run in a kernel of your own", got=got, case=case)
    claim(n < 2, f"{FLASH}: {n} kernels were launched where one fused kernel was asked: the state stays in registers until the end", got=got, case=case)


def examined(ask):
    """A call whose kernel Triton's compiler reads as well, as for a GPU; where that finds no kernel in it, what it gives is nobody's."""
    try:
        return ask()
    except Raised as raised:
        if raised.type == "NotTriton":
            disown(FLASH, "is a kernel that a GPU would run")
        raise


def in_any_order(call, got, case):
    """No program depends on what another one left: on a GPU they run at once."""
    for launch in call.launches:
        claim(not launch.get("overlap"), f"{FLASH}: a program writes over what another one has left in out or lse. On a GPU programs run at once and in no order: "
              "each one owns its rows, walks over all of their keys, and writes once", got=got, case=case)


def finished(call, got, case):
    """What comes back as out is what the kernel wrote: nothing of it is left to PyTorch."""
    claim(call.as_written[:1] != (False,), f"{FLASH}: out isn't what the kernel wrote but was worked on after it: divide by l, cast and set rows that see nothing to 0 in the kernel, "
          "before it stores them; another pass over memory is what fusing saves", got=got, case=case)


def worked_out_outside(submission, got, want, arrays, causal):
    """The sentence for a result that is right when asked plainly and isn't that of the values which stood in the inputs while the kernel ran; None for any other."""
    if is_near(got, want) and near(got[1], want[1]):
        return None
    submission.replayable = False  # what is remembered of the call before can't be played again
    try:
        again = submission.flash_attention(*arrays, causal=causal, _fence=True)
    finally:
        submission.replayable = True
    if not (is_near(again, want) and near(again[1], want[1])):
        return None
    return "While the kernel ran, other values stood in q, k and v than before and after, and the result has to be theirs: what is copied, or worked out outside the kernel, isn't."


def without_kernel(ask, want, case):
    """The call again with the kernel replaced by one that does nothing: neither part may come out right."""
    try:
        got = ask()
    except Raised:
        return  # a submission may well notice
    for name, part, right in zip(("out", "lse"), got if isinstance(got, tuple) else (), want, strict=False):
        if usable(part, right):
            claim(not near(part, right), f"{FLASH}: with a kernel that does nothing in place of yours, {name} still comes out right, so the kernel isn't what computes it",
                  got=part, case=case)


def no_copies(submission, rng):
    """The kernel gets the inputs where they lie and an output to fill, and no other memory than O(B * H * T_q)."""
    for name, layout in [("contiguous", {}), *LAYOUTS]:
        q, k, v = qkv(rng, 3, 200, batch=1, heads=2, width=128, dtype="float32")
        got = submission.flash_attention(*held((q, k, v), "float32", **layout))
        frugal(submission.launches(got) if isinstance(got, tuple) else (), q.shape, got, f"{sizes(q, k, False)}, {name}")


def frugal(launches, shape, got, case, beside=0):
    """No launch was handed more new memory than out and lse take, but for a few bytes a row."""
    fresh, rows = max((launch["fresh_bytes"] for launch in launches), default=0), math.prod(shape[:3])
    tiles = math.prod(shape[:2]) * -(-shape[2] // 128) * 128  # lse may have whole tiles of rows, cut to T_q afterwards
    claim(fresh <= rows * (shape[3] * 4 + 64) + 4 * tiles + beside, f"{FLASH}: beside its inputs the kernel was given {fresh} bytes of new memory; out and lse take "
          f"{rows * (shape[3] * 4 + 4)}. A copy of an input, or one output for each split of the keys, is memory that a fused kernel doesn't need", got=got, case=case)


@points(1)
@of(FLASH)
@after("kernel-agrees-with-attention", "causal-kernel")
def test_kernel_keeps_no_history(submission, rng):
    """A result depends on its own call alone, no argument is changed, and a later call doesn't reach into an earlier result."""
    history(submission, rng, FLASH, lambda arrays, causal, **options: flash(submission, arrays, causal, **options), width=16, batch=1)


@points(1)
@of(FLASH)
def test_impossible_kernels_refused(submission, rng):
    """Sizes that don't fit, another Dh, another dtype, mixed dtypes and a strided last axis are a ValueError that names the argument."""
    misfits(rng, submission.flash_attention, width=16)
    for width in (8, 24, 48, 256):
        arrays = held(qkv(rng, 2, 3, width=width, dtype="float32"), "float32")
        refuses(lambda arrays=arrays: submission.flash_attention(*arrays), ("q", "k", "v", "Dh", "d", "D", "d_k", "head_dim"), case=f"Dh={width}")
    q, k, v = qkv(rng, 2, 3, width=16, dtype="float16")
    for kinds in [("float64",) * 3, ("int32",) * 3, ("float16", "float32", "float32"), ("float32", "float16", "float32"), ("float32", "float32", "float16"),
                  ("float64", "float32", "float32")]:
        arrays = [tensor(x, kind) for x, kind in zip((q, k, v), kinds, strict=True)]
        refuses(lambda arrays=arrays: submission.flash_attention(*arrays), ("q", "k", "v", "dtype", "dtypes"), case="dtypes " + ", ".join(kinds))
    for odd in range(3):
        arrays = [tensor(x, "float32", **({"order": (0, 1, 3, 2)} if place == odd else {})) for place, x in enumerate((q, k, v))]
        refuses(lambda arrays=arrays: submission.flash_attention(*arrays), ("q", "k", "v"), case=f"the last axis of {'qkv'[odd]} has a stride")


@points(1)
@of(FLASH)
@after("kernel-agrees-with-attention", "kernel-stays-inside-its-tensors")
def test_nothing_outside_is_touched(submission, rng, device):
    """Not even a value that is thrown away is read from outside a tensor: behind each one lies memory that may not be touched."""
    for t_q, t_k, causal in [(5, 7, False), (33, 35, True)]:
        arrays = qkv(rng, t_q, t_k, batch=1, heads=1, width=16, dtype="float32")
        behind = {"edge": True} if device == "cpu" else {"guard": 4096}  # a page that ends the process, or NaN
        got = submission.flash_attention(*held(arrays, "float32", **behind), causal=causal, _fence=True)
        is_answer(got, attention(*arrays, causal), "float32", FLASH, f"{sizes(*arrays[:2], causal)}, forbidden memory behind every tensor")


# ---------------------------------------------------------------- what only a GPU can show


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


def stayed_inside(submission, got, case):
    """Nothing was written past a tensor that the call made, nor to or around an argument."""
    spilled, changed = submission.spilled(got), submission.mutated(got)
    claim(not spilled, f"{FLASH}: the kernel wrote outside a tensor of shape {' and '.join(spilled)}; rows past T_q must not be stored", got=got, case=case)
    claim(not changed, f"{FLASH}: the call wrote to or around its argument {', '.join(map(str, changed))}", got=got, case=case)


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
