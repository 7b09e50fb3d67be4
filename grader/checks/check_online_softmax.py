"""Exercise 06, claim by claim: softmax states, attention block by block, and the Triton kernel.

Oracles are NumPy in float64. The interpreter is slow, so the kernel meets small inputs: sizes around its tile edges come from lengths
that no power of two divides, and every trap of the contract is set with as few queries as show it.
"""

import contextlib
import itertools
import math

import numpy as np
import pytest
from attngrade.checks.claims import Raised, Result, after, arguments, claim, expect, gpu_only, of, points, refuses, stretch, tensor
from attngrade.checks.online_oracles import (
    LAYOUTS,
    TOLERANCE,
    as_held,
    attention,
    crumbs,
    merged,
    nothing,
    offset,
    peak_at,
    pulled_back,
    qkv,
    rising,
    state,
    steered,
)

MERGE, BLOCKWISE, FLASH = "merge_states", "blockwise_attention", "flash_attention"
STATE_NAMES = ("a", "b", "m", "l", "o", "m_a", "l_a", "o_a", "m_b", "l_b", "o_b", "ma", "la", "oa", "mb", "lb", "ob", "state", "states")
LEADING = [(), (3,), (2, 4), (2, 3, 5)]
FLASH_DTYPES = ("float32", "float16")
MIB = 1 << 20


# ---------------------------------------------------------------- what every claim uses


def is_state(got, want, dtype, case="", because=None):
    """``got`` is a tuple (m, l, o) with these values."""
    if claim_tuple(got, 3, "(m, l, o)", MERGE, case):
        for name, part, right in zip("mlo", got, want, strict=True):
            expect(part, right, dtype=dtype, case=f"{name}, {case}", because=because)


def is_answer(got, want, dtype, function, case="", because=None):
    """``got`` is a tuple (out, lse) with these values; lse is compared relative to max(1, max|lse|)."""
    if claim_tuple(got, 2, "(out, lse)", function, case):
        expect(got[0], want[0], dtype=dtype, case=f"out, {case}", because=because)
        is_lse(got[1], want[1], dtype, case, because)


def is_lse(got, want, dtype, case, because=None):
    reach = max(1.0, np.max(np.abs(want), where=np.isfinite(want), initial=0.0))
    expect(got, want, dtype="float32", tol=max(TOLERANCE[dtype], TOLERANCE["float32"]), scale=reach, case=f"lse, {case}", because=because)


def claim_tuple(got, n, parts, function, case):
    """Whether ``got`` is a tuple of ``n`` arrays; claims it."""
    fits = isinstance(got, tuple) and len(got) == n
    kind = type(got).__name__ if not isinstance(got, tuple) else f"tuple of {len(got)}"
    claim(fits, f"{function}: came back as a {kind} where the tuple {parts} was asked", got=got, case=case)
    call = getattr(got[0], "call", None) if fits else None
    if call is not None:  # whatever is changed once stays changed, so every call is looked at
        claim(not call.touched, f"{function}: the call changed {', '.join(call.touched)}, which belongs to the whole process", got=got, case=case)
    return fits


def held(arrays, dtype, **layout):
    return tuple(tensor(x, dtype, **layout) for x in arrays)


def blockwise(submission, arrays, block_size, causal=False, dtype="float64", **options):
    return submission.blockwise_attention(*held(arrays, dtype), block_size, causal=causal, **options)


def flash(submission, arrays, causal=False, dtype="float32", **options):
    """The kernel's result; the fence keeps stray writes off the memory of the process, so that they are seen and not died of."""
    return submission.flash_attention(*held(arrays, dtype), causal=causal, **{"_fence": True, **options})


def shrunk(got, want):
    """The sentence for an output that is the only key's value times a number below 1; None for any other."""
    out = getattr(got[0], "array", None) if isinstance(got, tuple) and got else None
    if out is None or out.shape != want[0].shape or out.dtype.kind != "f":
        return None
    ratio = out.astype(np.float64).ravel() / want[0].ravel()
    if not np.ptp(ratio) < 1e-2 * abs(ratio[0]) or not 0 < ratio[0] < 0.98:
        return None
    return f"One key alone gives its own value; yours is {ratio[0]:.2g} of it: what fills up the tile beyond the last key counts as keys of score 0."


def sizes(q, k, causal):
    return f"T_q={q.shape[2]}, T_k={k.shape[2]}, Dh={q.shape[3]}, {'causal' if causal else 'not causal'}"


def no_traces(submission, got, function):
    """The call changed none of its arguments."""
    changed = submission.mutated(got)
    claim(not changed, f"{function}: the call changed its argument {', '.join(map(str, changed))}; arguments belong to the caller", got=got)


def some_state(rng, shape, width, n=4, around=0.0):
    """The state of ``n`` keys with random scores around a value."""
    return state(around + rng.standard_normal((*shape, n)), rng.standard_normal((*shape, n, width)))


# ---------------------------------------------------------------- merge_states


@points(2)
@of(MERGE)
def test_union_of_two_states(submission, rng):
    """The union has the larger maximum, and both sums and outputs are brought to it before they are added."""
    for shape, (low, high) in itertools.product(LEADING, [(-1.0, 1.0), (2.0, -2.0), (0.0, 0.0)]):
        a, b = some_state(rng, shape, 6, around=low), some_state(rng, shape, 6, n=3, around=high)
        is_state(submission.merge_states(a, b), merged(a, b), "float64", f"m {shape}, maxima near {low:g} and {high:g}")
    a, b = some_state(rng, (2,), 3), some_state(rng, (2,), 3)
    is_state(submission.merge_states(a=a, b=b), merged(a, b), "float64", "arguments by name")
    a, b = some_state(rng, (4, 1), 1), some_state(rng, (4, 1), 1)
    is_state(submission.merge_states(a, b), merged(a, b), "float64", "m (4, 1), Dh=1")
    a, b = some_state(rng, (5, 5), 5), some_state(rng, (5, 5), 5)
    is_state(submission.merge_states(a, b), merged(a, b), "float64", "m (5, 5), Dh=5")


@points(2)
@of(MERGE)
def test_empty_states_add_nothing(submission, rng):
    """The empty set is the neutral element, on either side; two empty sets make an empty set, without NaN."""
    for shape in LEADING:
        full, empty = some_state(rng, shape, 4), nothing(shape, 4)
        is_state(submission.merge_states(full, empty), full, "float64", f"b is empty, m {shape}")
        is_state(submission.merge_states(empty, full), full, "float64", f"a is empty, m {shape}")
        is_state(submission.merge_states(empty, nothing(shape, 4)), empty, "float64", f"both are empty, m {shape}")
    a, b = some_state(rng, (4,), 3, around=-60.0), some_state(rng, (4,), 3, around=60.0)
    for part, void in zip(range(3), (-np.inf, 0.0, 0.0), strict=True):
        a[part][[0, 1]], b[part][[1, 2]] = void, void
    is_state(submission.merge_states(a, b), merged(a, b), "float64", "rows: a empty, both, b, none")


@points(2)
@of(MERGE)
def test_maxima_of_any_size(submission, rng):
    """Maxima may be of any size and far apart, row by row: nothing overflows, nothing vanishes."""
    for dtype, far in [("float32", 50.0), ("float32", 125.0), ("float64", 1000.0), ("float64", 1e6)]:
        around = far * np.array([[1.0, -1.0, -1.0, 1.0, 0.0], [1.0, -1.0, 1.0, -1.0, -1.0]])[..., None]
        a, b = (tuple(as_held(x, dtype) for x in some_state(rng, (5,), 3, around=row)) for row in around)
        got = submission.merge_states(held(a, dtype), held(b, dtype))
        is_state(got, merged(a, b), dtype, f"maxima near {far:g} and -{far:g}, in both orders, {dtype}")
        for name, part, right in zip("lo", got[1:] if isinstance(got, tuple) else (), merged(a, b)[1:], strict=False):
            for row in range(5):  # each row against its own size
                here = Result(part.array[row], part.dtype, part.kind, part.facts, part.call) if usable(part, right) else part
                expect(here, right[row] if here is not part else right, dtype=dtype, case=f"{name} of row {row}, maxima near {far:g} and -{far:g}, {dtype}")


def usable(part, right):
    return isinstance(part, Result) and part.shape == right.shape


@points(1)
@of(MERGE)
@after("union-of-two-states", "empty-states-add-nothing")
def test_order_and_grouping_do_not_matter(submission, rng):
    """Merging is associative and commutative: any order of any parts gives the state of all keys."""
    s, v = 8 * rng.standard_normal((3, 9)), rng.standard_normal((3, 9, 4))
    parts = [state(s[:, i:j], v[:, i:j]) for i, j in [(0, 2), (2, 2), (2, 7), (7, 9)]]
    for order in itertools.islice(itertools.permutations(range(4)), 0, 24, 5):
        a, b, c, d = (parts[i] for i in order)
        left = submission.merge_states(submission.merge_states(submission.merge_states(a, b), c), d)
        is_state(left, state(s, v), "float64", f"(((a b) c) d), keys 0-1, none, 2-6, 7-8 in order {order}")
        pairs = submission.merge_states(submission.merge_states(a, b), submission.merge_states(c, d))
        is_state(pairs, state(s, v), "float64", f"((a b) (c d)), keys 0-1, none, 2-6, 7-8 in order {order}")


@points(1)
@of(MERGE)
@after("union-of-two-states")
def test_states_keep_their_dtype(submission, rng):
    """A state of float32, float16 or bfloat16 stays one; what is added up is added up in float32 at least."""
    for dtype in ("float32", "float16", "bfloat16"):
        a, b = (tuple(as_held(x, dtype) for x in some_state(rng, (3, 2), 4, around=near)) for near in (0.5, -0.5))
        is_state(submission.merge_states(held(a, dtype), held(b, dtype)), merged(a, b), dtype, dtype)


@points(1)
@of(MERGE)
@after("union-of-two-states", "empty-states-add-nothing")
def test_gradients_through_a_merge(submission, rng):
    """The gradient of o / l passes through a merge, and is finite where one side is empty."""
    a, b, up = some_state(rng, (4,), 3), some_state(rng, (4,), 3, around=1.0), rng.standard_normal((4, 3))
    for part, void in zip(range(3), (-np.inf, 0.0, 0.0), strict=True):
        a[part][0], b[part][1] = void, void
    for one, other in ((a, b), (b, a)):
        m, l, o = merged(one, other)
        to_l, to_o = -(up * o).sum(-1) / l**2, up / l[:, None]
        _, grads = submission.vjp(MERGE, one, other, wrt=(0, 1), cotangent=(None, to_l, to_o))
        f, g = np.exp(one[0] - m), np.exp(other[0] - m)
        want = [part for s, w in ((one, f), (other, g)) for part in (w * (s[1] * to_l + (s[2] * to_o).sum(-1)), w * to_l, w[:, None] * to_o)]
        for name, grad, right in zip(("m of a", "l of a", "o of a", "m of b", "l of b", "o of b"), grads, want, strict=True):
            expect(grad, right, atol=1e-12, case=f"gradient for {name}, one side is empty in row 0 and the other in row 1")
    _, grads = submission.vjp(MERGE, a, nothing((4,), 3), wrt=(0, 1), cotangent=(None, rng.standard_normal(4), up))
    finite = all(isinstance(grad, Result) and np.isfinite(grad.array).all() for grad in grads)
    claim(finite, f"{MERGE}: a gradient is not finite although the merged l and o are", got=grads, case="b is empty in every row, a in row 0")


@points(1)
@of(MERGE)
def test_misfitting_states_refused(submission, rng):
    """States whose shapes don't fit are a ValueError that names them."""
    good = some_state(rng, (3,), 4)
    wrong = {
        "m of b (4,), m of a (3,)": (good, some_state(rng, (4,), 4)),
        "o of b (3, 5), o of a (3, 4)": (good, some_state(rng, (3,), 5)),
        "l of b (2,), m of b (3,)": (good, (good[0], good[1][:2], good[2])),
        "l of a (2,), m of a (3,)": ((good[0], good[1][:2], good[2]), good),
        "o of b (2, 4), m of b (3,)": (good, (good[0], good[1], good[2][:2])),
        "o of both (3,), m of both (3,)": ((good[0], good[1], good[1]), (good[0], good[1], good[1])),
    }
    for case, (a, b) in wrong.items():
        refuses(lambda a=a, b=b: submission.merge_states(a, b), STATE_NAMES, case=case)


@points(1)
@of(MERGE)
def test_merging_leaves_no_trace(submission, rng):
    """A merge changes neither state, nor anything global, and a later merge doesn't reach into its result."""
    a, b, c = (some_state(rng, (3, 2), 4, around=near) for near in (0.0, 2.0, -1.0))
    for one, other in ((a, b), (b, a), (a, nothing((3, 2), 4)), (nothing((3, 2), 4), b)):
        got = submission.merge_states(one, other, _keep=True)
        no_traces(submission, got, MERGE)
        again = submission.merge_states(c, one)
        is_state(submission.reread(got), merged(one, other), "float64", "read again after another merge", "A later call changed this result")
        if claim_tuple(again, 3, "(m, l, o)", MERGE, ""):
            submission.scribble(got)
    is_state(submission.merge_states(a, b), merged(a, b), "float64", "once more, after the caller wrote into the results")


# ---------------------------------------------------------------- blockwise_attention


@points(2)
@of(BLOCKWISE)
def test_attention_block_by_block(submission, rng):
    """Block by block the outputs are those of softmax(q k^T / sqrt(Dh)) v, and lse is the natural log of its normaliser, in float32."""
    for t_q, t_k, width, block_size in [(1, 1, 1, 1), (2, 3, 4, 3), (2, 3, 4, 2), (3, 4, 4, 2), (4, 4, 9, 2), (5, 6, 7, 2)]:
        arrays = qkv(rng, t_q, t_k, width=width)
        case = f"{sizes(*arrays[:2], False)}, block_size={block_size}"
        is_answer(blockwise(submission, arrays, block_size), attention(*arrays), "float64", BLOCKWISE, case)
    q, k, v = qkv(rng, 3, 4, batch=1, heads=1, dtype="float32")
    named = submission.blockwise_attention(q=tensor(q, "float32"), k=tensor(k, "float32"), v=tensor(v, "float32"), block_size=2, causal=True)
    is_answer(named, attention(q, k, v, True), "float32", BLOCKWISE, "arguments by name, B=1, H=1, causal, float32")
    q, k, v = qkv(rng, 3, 5, heads=2)
    is_answer(submission.blockwise_attention(q, k, v, 2), attention(q, k, v), "float64", BLOCKWISE, "without `causal`")


@points(2)
@of(BLOCKWISE)
def test_blocks_of_any_size(submission, rng):
    """The block size changes nothing: 1, a size that doesn't divide T_k, T_k itself, more than T_k."""
    for t_k, block_sizes in [(7, (7, 3, 2, 4, 6, 1, 8, 100)), (12, (4, 5, 11, 12, 13))]:
        arrays = qkv(rng, 5, t_k, width=6, dtype="float32")
        for block_size in block_sizes:
            got = blockwise(submission, arrays, block_size, dtype="float32")
            is_answer(got, attention(*arrays), "float32", BLOCKWISE, f"T_k={t_k}, block_size={block_size}")


@points(2)
@of(BLOCKWISE)
def test_causal_over_blocks(submission, rng):
    """Causal: the last query sits on the last key, so query i sees key j exactly when j <= i + (T_k - T_q), in every block."""
    for t_q, t_k in [(2, 2), (4, 4), (7, 7), (1, 5), (2, 5), (4, 9), (3, 11)]:
        arrays = qkv(rng, t_q, t_k)
        for block_size in (1, 2, 3, 20):
            got = blockwise(submission, arrays, block_size, True)
            is_answer(got, attention(*arrays, True), "float64", BLOCKWISE, f"{sizes(*arrays[:2], True)}, block_size={block_size}")


@points(2)
@of(BLOCKWISE)
def test_queries_that_see_nothing(submission, rng):
    """A query that sees no key has an output of 0 and an lse of -inf, no NaN; the other queries keep theirs."""
    for t_q, t_k in [(2, 1), (5, 3), (9, 4), (7, 6)]:
        arrays = qkv(rng, t_q, t_k)
        for block_size in (1, 2, 5):
            got = blockwise(submission, arrays, block_size, True)
            is_answer(got, attention(*arrays, True), "float64", BLOCKWISE, f"{sizes(*arrays[:2], True)}, block_size={block_size}")
    for dtype in ("float32", "float16"):
        arrays = qkv(rng, 6, 2, dtype=dtype)
        is_answer(blockwise(submission, arrays, 2, True, dtype), attention(*arrays, True), dtype, BLOCKWISE, f"{sizes(*arrays[:2], True)}, {dtype}")


@points(1)
@of(BLOCKWISE)
@after("attention-block-by-block", "causal-over-blocks", "queries-that-see-nothing")
def test_future_keys_do_not_matter(submission, rng):
    """What stands in the keys and values of the future, however large, leaves an output as it is."""
    for t_q, t_k in [(4, 4), (3, 6), (5, 3)]:
        q, k, v = qkv(rng, t_q, t_k)
        for i, size in itertools.product(range(max(0, t_q - t_k), t_q), (1.0, 1e4)):
            last = i + offset(t_q, t_k)
            later = [np.concatenate([x[:, :, : last + 1], size * rng.standard_normal(x[:, :, last + 1 :].shape)], 2) for x in (k, v)]
            got = blockwise(submission, (q, *later), 2, True)
            if claim_tuple(got, 2, "(out, lse)", BLOCKWISE, "") and usable(got[0], q):
                row = np.ascontiguousarray(got[0].array[:, :, i])
                expect(Result(row, got[0].dtype, got[0].kind, got[0].facts, got[0].call), attention(q, k, v, True)[0][:, :, i],
                       case=f"output {i}, {sizes(q, k, True)}, later keys and values of size {size:g}",
                       because="An output moved although only keys and values after its query were changed")


@points(2)
@of(BLOCKWISE)
def test_scores_of_any_size(submission, rng):
    """The largest score may lie in the first, a middle or the last block, scores may rise, fall, or all lie near -125 or 125."""
    courses = {
        "scores near -125": -125 + np.cos(np.arange(7)), "scores near 125": 125 + np.cos(np.arange(7)), "scores near -20": -20 + np.sin(np.arange(7)),
        "rising from -50 to 50": rising(7, 50.0), "falling from 50 to -50": rising(7, 50.0)[::-1], "rising from -210 to -110": rising(7, -110.0),
        "the first block 0, then -100": np.repeat([0.0, -100.0], [2, 5]), "the first block -125, then 0": np.repeat([-125.0, 0.0], [2, 5]),
        **{f"peak at key {place} of 7, the rest 100 below": peak_at(place, 7, 40.0) for place in (0, 3, 6)},
    }
    for (case, wanted), block_size in itertools.product(courses.items(), (2, 3)):
        arrays = steered(rng, wanted, 4)
        is_answer(blockwise(submission, arrays, block_size, dtype="float32"), attention(*arrays), "float32", BLOCKWISE, f"{case}, block_size={block_size}")
    arrays = steered(rng, 900 * np.cos(np.arange(7)), 4, dtype="float64")
    is_answer(blockwise(submission, arrays, 2), attention(*arrays), "float64", BLOCKWISE, "scores between -900 and 900, float64")
    q, k, v = qkv(rng, 4, 6, dtype="float32")
    q[:, :, 1], q[0, :, 2] = 60 * q[:, :, 1], -60 * q[0, :, 2]
    is_answer(blockwise(submission, (q, k, v), 2, dtype="float32"), attention(q, k, v), "float32", BLOCKWISE, "rows of very different size")


@points(2)
@of(BLOCKWISE)
@after("attention-block-by-block", "blocks-of-any-size", "causal-over-blocks")
def test_half_precision_runs_in_float32(submission, rng):
    """With float16 and bfloat16 inputs scores, exponentials and sums are float32, and out is cast back once."""
    for dtype in ("float16", "bfloat16"):
        arrays = qkv(rng, 4, 6, dtype=dtype)
        is_answer(blockwise(submission, arrays, 4, True, dtype), attention(*arrays, True), dtype, BLOCKWISE, f"T_q=4, T_k=6, causal, {dtype}")
    for dtype in ("float16", "bfloat16"):
        arrays = nearly_cancelling(rng, dtype)
        got = blockwise(submission, arrays, 2, dtype=dtype)
        is_answer(got, attention(*arrays), dtype, BLOCKWISE, f"values of 60 whose average is small, {dtype}")
    for dtype, n in [("bfloat16", 1300), ("float16", 3001)]:
        arrays = np.zeros((1, 1, 1, 4)), np.zeros((1, 1, n, 4)), np.ones((1, 1, n, 4))
        is_answer(blockwise(submission, arrays, 50, dtype=dtype), attention(*arrays), dtype, BLOCKWISE, f"{n} equal scores, {dtype}")
    arrays = *(np.full((1, 1, t, 192), 20.0) for t in (2, 3)), as_held(rng.standard_normal((1, 1, 3, 192)), "float16")
    is_answer(blockwise(submission, arrays, 2, dtype="float16"), attention(*arrays), "float16", BLOCKWISE, "q . k = 76800, beyond float16")


def nearly_cancelling(rng, dtype):
    """Values whose average is small beside them: a weight, sum or output that was rounded on the way shows."""
    q, k = (as_held(x, "bfloat16") / 2 for x in rng.standard_normal((2, 1, 2, 9, 8)))
    q, v = q[:, :, :1], rng.uniform(-60, 60, k.shape)
    for _ in range(3):
        v = np.round(2 * (v - attention(q, k, v)[0])) / 2
    return q, k, v


@points(2)
@of(BLOCKWISE)
@after("attention-block-by-block", "causal-over-blocks")
def test_gradients_through_blocks(submission, rng):
    """Gradients of out and lse for q, k and v are right, and finite beside queries that see nothing."""
    for t_q, t_k, causal, block_size in [(2, 3, False, 2), (3, 5, True, 2), (4, 4, True, 4), (5, 3, True, 2)]:
        arrays = qkv(rng, t_q, t_k)
        up_out, up_lse = rng.standard_normal(arrays[0].shape), as_held(rng.standard_normal(arrays[0].shape[:3]), "float32")
        up_lse = np.where(np.isfinite(attention(*arrays, causal)[1]), up_lse, 0.0)
        for ups, what, right in [((up_out, None), "out", (up_out, 0 * up_lse)), ((up_out, up_lse), "out and lse", (up_out, up_lse))]:
            _, grads = submission.vjp(BLOCKWISE, *arrays, block_size, causal, wrt=(0, 1, 2), cotangent=ups)
            for name, grad, want in zip("qkv", grads, pulled_back(*arrays, causal, *right), strict=True):
                expect(grad, want, tol=1e-6, case=f"gradient of {what} for {name}, {sizes(*arrays[:2], causal)}, block_size={block_size}")


@points(1)
@of(BLOCKWISE)
def test_blocks_of_strided_tensors(submission, rng):
    """The result depends on values, not on how they lie in memory; no argument and no global state is changed."""
    for name, layout in LAYOUTS:
        q, k, v = qkv(rng, 4, 7)
        got = submission.blockwise_attention(*held((q, k, v), "float64", **layout), 3, True)
        is_answer(got, attention(q, k, v, True), "float64", BLOCKWISE, f"{name}, {sizes(q, k, True)}")
        no_traces(submission, got, BLOCKWISE)
    mixed = tensor(q, order=(0, 2, 1, 3)), tensor(k, gap=2), tensor(v, order=(0, 1, 3, 2))
    got = submission.blockwise_attention(*mixed, 2)
    is_answer(got, attention(q, k, v), "float64", BLOCKWISE, "q, k and v laid out differently")
    no_traces(submission, got, BLOCKWISE)


@points(1)
@of(BLOCKWISE)
@after("attention-block-by-block", "causal-over-blocks")
def test_blocks_keep_no_history(submission, rng):
    """A result depends on its own call alone, and a later call doesn't reach into an earlier result."""
    history(submission, rng, BLOCKWISE, lambda arrays, causal, **options: blockwise(submission, arrays, 3, causal, "float32", **options), width=4)


def history(submission, rng, function, ask, width):
    """Calls with the same shapes and other values, read again after the caller has written into them."""
    first, second = (qkv(rng, 4, 6, heads=2, width=width, dtype="float32") for _ in range(2))
    for causal in (True, False, True):
        one = ask(first, causal, _keep=True)
        no_traces(submission, one, function)
        is_answer(ask(second, causal), attention(*second, causal), "float32", function, "another call with the same shapes")
        if claim_tuple(one, 2, "(out, lse)", function, ""):
            is_answer(submission.reread(one), attention(*first, causal), "float32", function, "read again after another call", "A later call changed it")
            submission.scribble(one)
        is_answer(ask(first, causal), attention(*first, causal), "float32", function, "once more, after the caller wrote into the result")


@points(3)
@of(BLOCKWISE)
@after("attention-block-by-block", "causal-over-blocks")
def test_memory_is_linear(submission, rng, device):
    """Nothing of size T_q x T_k is ever held, no output for every block, and no copy of all keys: padded, cast or made contiguous."""
    t, width, block_size = 6144, 14, 16
    arrays = held(qkv(rng, t, t, batch=1, heads=1, width=width, dtype="float32"), "float32")
    grown = growth(submission, device, lambda: submission.blockwise_attention(*arrays, block_size, True))
    whole = f"all scores are {4 * t * t // MIB} MiB, a boolean mask of all is {t * t // MIB} MiB"
    claim(grown < 24 * MIB, f"{BLOCKWISE}: memory grew by {grown // MIB} MiB where 24 MiB are plenty ({whole})",
          case=f"T_q = T_k = {t}, Dh={width}, block_size={block_size}, float32, causal")
    for t_k, dtype, layout in [(40001, "float16", {}), (40001, "float32", {}), (20001, "float32", {"order": (0, 2, 1, 3)})]:
        arrays = held(qkv(rng, 2, t_k, batch=1, heads=1 + bool(layout), width=32, dtype=dtype), dtype, **layout)
        case = f"T_q=2, T_k={t_k}, Dh=32, block_size=500, {dtype}{', (B, T, H, Dh) in memory' if layout else ''}"
        beside = math.inf
        for _ in range(6):  # again if it looks too much: the system counts other things as well
            if beside >= 4.2 * MIB:
                alone = growth(submission, device, lambda arrays=arrays: unheard(submission, arrays))
                beside = min(beside, growth(submission, device, lambda arrays=arrays: submission.blockwise_attention(*arrays, 500)) - alone)
        claim(beside < 4.2 * MIB, f"{BLOCKWISE}: memory grew by {beside / MIB:.1f} MiB beside the arguments, where a block takes "
              f"a sixteenth of a MiB and all of k {arrays[1].data.nbytes / MIB:.1f} MiB", case=case)


def growth(submission, device, ask):
    """By how much a call takes memory. A tiny one goes before: earlier calls have let go of theirs then, and libraries have their workspace."""
    submission.blockwise_attention(*np.ones((3, 1, 1, 1, 1)), 1)
    ask()
    return submission.peak_bytes() if device == "cpu" else submission.device_bytes()


def unheard(submission, arrays):
    """A call that ends before the function begins: its growth is what the arguments alone take."""
    with contextlib.suppress(Raised):
        submission.blockwise_attention(*arrays, 500, no_such_argument=True)


@points(1)
@of(BLOCKWISE)
def test_impossible_blocks_refused(submission, rng):
    """A block size below 1, and q, k and v that don't fit each other, are a ValueError that names the argument."""
    q, k, v = qkv(rng, 2, 3, heads=2)
    for block_size in (0, -1, -7):
        refuses(lambda n=block_size: submission.blockwise_attention(q, k, v, n), ("block_size",), case=f"block_size={block_size}")
    misfits(rng, lambda *arrays: submission.blockwise_attention(*arrays, 2), width=4)


def misfits(rng, ask, width):
    """Every pair of sizes that has to agree and doesn't, those too that would broadcast."""
    x = rng.standard_normal((4, 4, 8, 2 * width)).astype("float32")
    whole = np.s_[:2, :2, :3, :width]
    cases = {
        "rank 3": (np.s_[0, :2, :3, :width],) * 3, "rank 5": (np.s_[None, :2, :2, :3, :width],) * 3, "rank 3, q alone": (np.s_[0, :2, :3, :width], whole, whole),
        "rank 3, k and v": (whole, np.s_[0, :2, :3, :width], np.s_[0, :2, :3, :width]),
        "2 keys, 3 values": (whole, np.s_[:2, :2, :2, :width], whole), "3 keys, 1 value": (whole, whole, np.s_[:2, :2, :1, :width]),
        "batch of q 2, of k and v 3": (whole, np.s_[:3, :2, :3, :width], np.s_[:3, :2, :3, :width]),
        "batch of q 2, of k and v 1": (whole, np.s_[:1, :2, :3, :width], np.s_[:1, :2, :3, :width]),
        "batch of v 1": (whole, whole, np.s_[:1, :2, :3, :width]),
        "heads of q 4, of k and v 2": (np.s_[:2, :4, :3, :width], whole, whole),
        "heads of q 2, of k and v 1": (whole, np.s_[:2, :1, :3, :width], np.s_[:2, :1, :3, :width]),
        "width of q differs": (np.s_[:2, :2, :3, : 2 * width], whole, whole), "width of k differs": (whole, np.s_[:2, :2, :3, : 2 * width], whole),
        "width of v differs": (whole, whole, np.s_[:2, :2, :3, : 2 * width]),
    }
    for case, parts in cases.items():
        refuses(lambda parts=parts: ask(*(x[part] for part in parts)), ("q", "k", "v"), case=case)


# ---------------------------------------------------------------- flash_attention


@points(3)
@of(FLASH)
def test_kernel_agrees_with_attention(submission, rng):
    """The kernel gives attention and the natural log of its normaliser, for every width and for lengths that no tile divides."""
    for (t_q, t_k, width, batch, heads), dtype in itertools.product([(1, 1, 16, 1, 1), (1, 1, 16, 1, 1), (2, 3, 32, 2, 3), (5, 7, 64, 2, 1), (3, 70, 128, 1, 2)], FLASH_DTYPES):
        arrays = qkv(rng, t_q, t_k, batch=batch, heads=heads, width=width, dtype=dtype)
        got, want = flash(submission, arrays, dtype=dtype), attention(*arrays)
        is_answer(got, want, dtype, FLASH, f"{sizes(*arrays[:2], False)}, {dtype}", shrunk(got, want) if t_k == 1 else None)
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
    for t_q, t_k, width in [(64, 64, 32), (131, 139, 16), (35, 150, 32)]:
        arrays = qkv(rng, t_q, t_k, batch=1, heads=1, width=width, dtype="float32")
        is_answer(flash(submission, arrays, True), attention(*arrays, True), "float32", FLASH, f"{sizes(*arrays[:2], True)}, float32")


@points(2)
@of(FLASH)
@after("causal-kernel")
def test_kernel_rows_that_see_nothing(submission, rng):
    """With more queries than keys the first queries see nothing: out is 0 and lse is -inf there, no NaN, in whole tiles too."""
    for (t_q, t_k, heads), dtype in itertools.product([(2, 1, 3), (5, 3, 2), (37, 33, 1)], FLASH_DTYPES):
        arrays = qkv(rng, t_q, t_k, batch=1, heads=heads, width=16, dtype=dtype)
        is_answer(flash(submission, arrays, True, dtype), attention(*arrays, True), dtype, FLASH, f"{sizes(*arrays[:2], True)}, {dtype}")
    arrays = qkv(rng, 150, 5, batch=1, heads=1, width=16, dtype="float32")
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
    arrays = crumbs()
    is_answer(flash(submission, arrays, dtype="float16"), attention(*arrays), "float16", FLASH, "600 keys of weight 1, then 3000 of weight 0.002, float16")


@points(2)
@of(FLASH)
def test_kernel_follows_strides(submission, rng):
    """The kernel reads its inputs where they lie: any strides, another layout for each of q, k and v, padding between rows."""
    for (name, layout), dtype in itertools.product(LAYOUTS, FLASH_DTYPES):
        arrays = qkv(rng, 3, 5, width=16, dtype=dtype)
        got = submission.flash_attention(*held(arrays, dtype, **layout), causal=True, _fence=True)
        is_answer(got, attention(*arrays, True), dtype, FLASH, f"{name}, {sizes(*arrays[:2], True)}, {dtype}")
    for odd in range(3):
        arrays = qkv(rng, 3, 5, width=16, dtype="float32")
        layouts = [{"order": (0, 2, 1, 3), "gap": 1} if place == odd else {} for place in range(3)]
        got = submission.flash_attention(*(tensor(x, "float32", **layout) for x, layout in zip(arrays, layouts, strict=True)), _fence=True)
        is_answer(got, attention(*arrays), "float32", FLASH, f"{'qkv'[odd]} alone lies as (B, T, H, Dh) with padding")


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
def test_one_launch_does_the_work(submission, rng):
    """One launch of your own @triton.jit kernel computes out and lse from the inputs where they lie: no copies, no partial outputs."""
    for (t_q, t_k), causal in [((3, 70), False), ((5, 5), True)]:
        arrays = qkv(rng, t_q, t_k, batch=1, heads=2, width=32, dtype="float32")
        case, want = sizes(*arrays[:2], causal), attention(*arrays, causal)
        without_kernel(lambda arrays=arrays, causal=causal: flash(submission, arrays, causal, _decoy=True), want, case)
        got = flash(submission, arrays, causal)
        is_answer(got, want, "float32", FLASH, case)
        launched(len(submission.launches(got)) if isinstance(got, tuple) else 0, got, case)
    for call in submission.calls:  # all that was asked so far: every shape, dtype and layout
        if call.function == FLASH and call.raised is None and call.replayable:
            launched(len(call.launches), None, "in an earlier call: " + arguments(call))
    no_copies(submission, rng)


def launched(n, got, case):
    """Exactly one kernel."""
    claim(n > 0, f"{FLASH}: no @triton.jit kernel of this file was launched; part 3 has to run in a kernel of your own", got=got, case=case)
    claim(n < 2, f"{FLASH}: {n} kernels were launched where one fused kernel was asked: the state stays in registers until the end", got=got, case=case)


def without_kernel(ask, want, case):
    """The call again with the kernel replaced by one that does nothing: neither part may come out right."""
    try:
        got = ask()
    except Raised:
        return  # a submission may well notice
    for name, part, right in zip(("out", "lse"), got if isinstance(got, tuple) else (), want, strict=False):
        if usable(part, right):
            close = np.isfinite(part.array).all() and np.abs(part.array - right).max() <= 1e-3 * np.abs(right).max()
            claim(not close, f"{FLASH}: with a kernel that does nothing in place of yours, {name} still comes out right, so the kernel isn't what computes it",
                  got=part, case=case)


def no_copies(submission, rng):
    """The kernel gets the inputs where they lie and an output to fill, and no other memory than O(B * H * T_q)."""
    for name, layout in [("contiguous", {}), *LAYOUTS]:
        q, k, v = qkv(rng, 3, 200, batch=1, heads=2, width=128, dtype="float32")
        got = submission.flash_attention(*held((q, k, v), "float32", **layout))
        launches = submission.launches(got) if isinstance(got, tuple) else ()
        fresh, rows = max((launch["fresh_bytes"] for launch in launches), default=0), 2 * 3
        allowed = rows * (128 * 4 + 64)
        claim(fresh <= allowed, f"{FLASH}: beside its inputs the kernel was given {fresh} bytes of new memory; out and lse take {rows * (128 * 4 + 4)}. "
              "A copy of an input, or one output for each split of the keys, is memory that a fused kernel doesn't need", got=got,
              case=f"{sizes(q, k, False)}, {name}")


@points(1)
@of(FLASH)
@after("kernel-agrees-with-attention", "causal-kernel")
def test_kernel_keeps_no_history(submission, rng):
    """A result depends on its own call alone, no argument is changed, and a later call doesn't reach into an earlier result."""
    history(submission, rng, FLASH, lambda arrays, causal, **options: flash(submission, arrays, causal, **options), width=16)


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
