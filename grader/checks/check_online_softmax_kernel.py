"""Exercise 06, claim by claim: what the Triton kernel computes. That it is one launch is in check_online_softmax_launch.py, what only a GPU shows in check_online_softmax_on_gpu.py.

The interpreter is slow, so the kernel meets small inputs: sizes around its tile edges come from lengths that no power of two divides, and
every trap of the contract is set with as few queries as show it.
"""

import itertools

import numpy as np
from attngrade.checks.claims import Result, after, of, points, refuses, tensor
from attngrade.checks.online_claims import FLASH, FLASH_DTYPES, flash, held, history, is_answer, is_near, misfits, sizes, stayed_inside
from attngrade.checks.online_oracles import LAYOUTS, as_held, attention, crumbs, level, peak_at, qkv, rising, steered


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
