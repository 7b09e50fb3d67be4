"""Exercise 06, claim by claim: softmax states, and attention block by block. The kernel's claims are in check_online_softmax_kernel.py."""

import itertools
import math

import numpy as np
from attngrade.checks.claims import Result, after, claim, expect, of, points, refuses, tensor
from attngrade.checks.online_claims import (
    BLOCKWISE,
    LATER_CALLS,
    MERGE,
    MIB,
    claim_tuple,
    held,
    history,
    is_answer,
    is_state,
    misfits,
    no_traces,
    only_gradients,
    sizes,
    usable,
)
from attngrade.checks.online_oracles import LAYOUTS, as_held, attention, merged, nothing, offset, peak_at, pulled_back, qkv, rising, state, steered

STATE_NAMES = ("a", "b", "m", "l", "o", "m_a", "l_a", "o_a", "m_b", "l_b", "o_b", "ma", "la", "oa", "mb", "lb", "ob", "state", "states")
EMPTY = "Two empty sets make an empty one, (-inf, 0, 0): -inf - (-inf) is NaN, so the exponents need another number in place of m; the m that is returned stays -inf."
LEADING = [(), (3,), (2, 4), (2, 3, 5)]


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
    a, b = some_state(rng, (2, 1, 2, 2), 3), some_state(rng, (2, 1, 2, 2), 3)
    is_state(submission.merge_states(a, b), merged(a, b), "float64", "m (2, 1, 2, 2), Dh=3")


@points(2)
@of(MERGE)
def test_empty_states_add_nothing(submission, rng):
    """The empty set is the neutral element, on either side; two empty sets make an empty set, without NaN."""
    for shape in LEADING:
        full, empty = some_state(rng, shape, 4), nothing(shape, 4)
        is_state(submission.merge_states(full, empty), full, "float64", f"b is empty, m {shape}")
        is_state(submission.merge_states(empty, full), full, "float64", f"a is empty, m {shape}")
        is_state(submission.merge_states(empty, nothing(shape, 4)), empty, "float64", f"both are empty, m {shape}", EMPTY)
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
        got, grads = submission.vjp(MERGE, one, other, wrt=(0, 1), cotangent=(None, to_l, to_o))
        is_state(got, (m, l, o), "float64", "the result while gradients are recorded")
        f, g = np.exp(one[0] - m), np.exp(other[0] - m)
        want = [part for s, w in ((one, f), (other, g)) for part in (w * (s[1] * to_l + (s[2] * to_o).sum(-1)), w * to_l, w[:, None] * to_o)]
        for name, grad, right in zip(("m of a", "l of a", "o of a", "m of b", "l of b", "o of b"), grads, want, strict=True):
            expect(grad, right, atol=1e-12, case=f"gradient for {name}, one side is empty in row 0 and the other in row 1", because=only_gradients(got, (m, l, o)))
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
        for _ in range(LATER_CALLS):  # results may be handed out by turns
            submission.merge_states(c, one)
        is_state(submission.reread(got), merged(one, other), "float64", "read again after another merge", "A later call changed this result")
        if claim_tuple(again, 3, "(m, l, o)", MERGE, ""):
            submission.scribble(got)
    is_state(submission.merge_states(a, b), merged(a, b), "float64", "once more, after the caller wrote into the results")
    because = "It is tensors that are remembered, and not what is in them: their caller had changed them in place"
    is_state(submission.merge_states(a, b, _before=(*c, *a)), merged(a, b), "float64", "the same tensors with new values", because)


# ---------------------------------------------------------------- blockwise_attention


def blockwise(submission, arrays, block_size, causal=False, dtype="float64", **options):
    return submission.blockwise_attention(*held(arrays, dtype), block_size, causal=causal, **options)


@points(2)
@of(BLOCKWISE)
def test_attention_block_by_block(submission, rng):
    """Block by block the outputs are those of softmax(q k^T / sqrt(Dh)) v, and lse is the natural log of its normaliser, in float32."""
    for t_q, t_k, width, block_size in [(1, 1, 1, 1), (2, 3, 4, 3), (2, 3, 4, 2), (3, 4, 4, 2), (4, 4, 9, 2), (5, 6, 7, 2)]:
        arrays = qkv(rng, t_q, t_k, width=width)
        case = f"{sizes(*arrays[:2], False)}, block_size={block_size}"
        is_answer(blockwise(submission, arrays, block_size), attention(*arrays), "float64", BLOCKWISE, case)
    arrays = qkv(rng, 2, 3, batch=3, heads=5)
    is_answer(blockwise(submission, arrays, 2), attention(*arrays), "float64", BLOCKWISE, "B=3, H=5")
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
    wide = qkv(rng, int(rng.integers(33, 60)), int(rng.integers(70, 120)), batch=2, heads=5, width=int(rng.integers(48, 97)), dtype="float32")
    for block_size in (16, 50):
        got, case = blockwise(submission, wide, block_size, True, "float32"), f"{sizes(*wide[:2], True)}, Dh={wide[0].shape[-1]}, block_size={block_size}, float32"
        is_answer(got, attention(*wide, True), "float32", BLOCKWISE, case)
    arrays = qkv(rng, 3, 300, batch=1, heads=1)
    is_answer(blockwise(submission, arrays, 64, True), attention(*arrays, True), "float64", BLOCKWISE, f"{sizes(*arrays[:2], True)}, block_size=64")


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
        arrays = qkv(rng, int(rng.integers(17, 40)), int(rng.integers(41, 80)), width=int(rng.integers(17, 70)), dtype=dtype)
        case = f"{sizes(*arrays[:2], True)}, Dh={arrays[0].shape[-1]}, block_size=16, {dtype}"
        is_answer(blockwise(submission, arrays, 16, True, dtype), attention(*arrays, True), dtype, BLOCKWISE, case)
    for dtype in ("float16", "bfloat16"):
        arrays = nearly_cancelling(rng, dtype)
        got = blockwise(submission, arrays, 2, dtype=dtype)
        is_answer(got, attention(*arrays), dtype, BLOCKWISE, f"values of 60 whose average is small, {dtype}")
    for dtype, n in [("bfloat16", 1300), ("float16", 3001)]:
        arrays = np.zeros((1, 1, 1, 4)), np.zeros((1, 1, n, 4)), np.ones((1, 1, n, 4))
        is_answer(blockwise(submission, arrays, 50, dtype=dtype), attention(*arrays), dtype, BLOCKWISE, f"{n} equal scores, {dtype}")
        grown = *(np.concatenate([np.full((1, 1, 1, 4), first), np.full((1, 1, 300, 4), rest)], 2) for first, rest in ((4.125, 0.0), (0.0, 1.0))),
        case = f"one score of 8.25, then 300 of 0, one key at a time, {dtype}"
        is_answer(blockwise(submission, (np.ones((1, 1, 1, 4)), *grown), 1, dtype=dtype), attention(np.ones((1, 1, 1, 4)), *grown), dtype, BLOCKWISE, case)
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
    for t_q, t_k, causal, block_size in [(2, 3, False, 2), (3, 5, True, 2), (4, 4, True, 4), (5, 3, True, 2), (int(rng.integers(17, 40)), int(rng.integers(41, 80)), True, 16)]:
        arrays = qkv(rng, t_q, t_k)
        up_out, up_lse = rng.standard_normal(arrays[0].shape), as_held(rng.standard_normal(arrays[0].shape[:3]), "float32")
        up_lse = np.where(np.isfinite(attention(*arrays, causal)[1]), up_lse, 0.0)
        for ups, what, right in [((up_out, None), "out", (up_out, 0 * up_lse)), ((up_out, up_lse), "out and lse", (up_out, up_lse))]:
            got, grads = submission.vjp(BLOCKWISE, *arrays, block_size, causal, wrt=(0, 1, 2), cotangent=ups)
            is_answer(got, attention(*arrays, causal), "float64", BLOCKWISE, "the result while gradients are recorded")
            because = only_gradients(got, attention(*arrays, causal))
            for name, grad, want in zip("qkv", grads, pulled_back(*arrays, causal, *right), strict=True):
                case = f"gradient of {what} for {name}, {sizes(*arrays[:2], causal)}, block_size={block_size}"
                expect(grad, want, tol=1e-6, case=case, because=because)


    for dtype, tol in [("float32", 1e-3), ("float16", 0.1), ("bfloat16", 0.2)]:  # that they are there and no others is what counts
        arrays, up = qkv(rng, 2, 3, dtype=dtype), as_held(rng.standard_normal((2, 3, 2, 5)), dtype)
        _, grads = submission.vjp(BLOCKWISE, *held(arrays, dtype), 2, True, wrt=(0, 1, 2), cotangent=(tensor(up, dtype), None))
        for name, grad, want in zip("qkv", grads, pulled_back(*arrays, True, up, np.zeros(up.shape[:3])), strict=True):
            expect(grad, want, tol=tol, case=f"gradient for {name}, {sizes(*arrays[:2], True)}, {dtype}")


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


@points(3)
@of(BLOCKWISE)
@after("attention-block-by-block", "causal-over-blocks")
def test_memory_is_linear(submission, rng, device):
    """Nothing of size T_q x T_k is ever held, no output for every block, and no copy of all keys: padded, cast or made contiguous."""
    t, width, block_size = 6144, 16, 16
    values = steered(rng, rising(t, 190.0), width, heads=1, t_q=t)  # large ones as well: it is long inputs that tell blocks from all scores at once
    values[0][..., 0] *= rng.choice([1.0, -1.0, 0.5], t)
    arrays = held(values, "float32")
    grown, got = growth(submission, device, lambda: submission.blockwise_attention(*arrays, block_size, True))
    whole, case = f"all scores are {4 * t * t // MIB} MiB, a boolean mask of all is {t * t // MIB} MiB", f"T_q = T_k = {t}, Dh={width}, block_size={block_size}, float32, causal"
    claim(grown < 24 * MIB, f"{BLOCKWISE}: memory grew by {grown // MIB} MiB where 24 MiB are plenty ({whole})", got=got, case=case)
    rows_are_right(got, values, rng.choice(t, 6, replace=False), case)
    standing = submission.standing_bytes() if device == "cpu" else 0
    claim(standing < 128 * MIB, f"{BLOCKWISE}: the file holds {standing // MIB} MiB between calls; memory that is kept counts as well", got=got, case=case)
    copies = [(40001, "float32", {}, "padded, put together or copied"), (40001, "float16", {}, "cast to float32"),
              (20001, "float32", {"order": (0, 2, 1, 3)}, "made contiguous or reshaped")]
    for t_k, dtype, layout, what in copies:
        values = steered(rng, rising(t_k, 140.0), 32, heads=1 + bool(layout), t_q=2, dtype=dtype)
        stays_small(submission, device, values, 500, dtype, layout, f"all of k and v were {what} before the loop; slice a block first")
    values = steered(rng, rising(750_000, 800.0), 1, heads=1, t_q=1, dtype="float64")
    stays_small(submission, device, values, 10_000, "float64", {}, "scores of all keys were held, and not those of one block", most=12.0)  # the keys' numbers take half of it
    values = qkv(rng, 60_000, 64, batch=1, heads=1, width=1, dtype="float32")
    stays_small(submission, device, values, 1, "float32", {}, "blocks of another size than block_size were taken", most=26.0, telling=False)


def stays_small(submission, device, values, block_size, dtype, layout, guess, most=4.2, telling=True):
    """A call beside whose arguments nothing large is held; ``telling``: how much it is may tell one mistake from another."""
    arrays = held(values, dtype, **layout)
    case = f"{sizes(*values[:2], False)}, block_size={block_size}, {dtype}{', (B, T, H, Dh) in memory' if layout else ''}"
    alone = min(growth(submission, device, lambda: submission.weight(*arrays))[1] for _ in range(2)) if device == "cpu" else 0
    beside = math.inf
    for _ in range(6):  # again if it looks too much: the system counts other things as well
        if beside >= most * MIB:
            taken, got = growth(submission, device, lambda: submission.blockwise_attention(*arrays, block_size), telling)
            beside = min(beside, taken - alone)
    whole = arrays[1].data.nbytes
    block = block_size * (4 * values[0][..., 0].size + 2 * whole // values[1].shape[2])
    claim(beside < most * MIB, f"{BLOCKWISE}: memory grew by {beside / MIB:.1f} MiB beside the arguments, where a block's scores, keys and values take "
          f"{block / MIB:.1g} MiB and all of k {whole / MIB:.2g} MiB. It looks as if {guess}", got=got, case=case)
    is_answer(got, attention(*values), dtype, BLOCKWISE, case)


def growth(submission, device, ask, telling=True):
    """By how much a call takes memory, and its result. A tiny one goes before: earlier calls have let go of theirs then, and libraries have their workspace."""
    submission.blockwise_attention(*np.ones((3, 1, 1, 1, 1)), 1)
    submission.settle()
    got = ask()
    if device != "cpu":
        return submission.device_bytes(), got
    return submission.peak_bytes() if telling else submission.last.peak_bytes, got


def rows_are_right(got, values, rows, case):
    """Some rows of a causal answer, with as many keys as queries, that is too long to be worked out whole."""
    q, k, v = values
    fits = isinstance(got, tuple) and len(got) == 2 and usable(got[0], q) and usable(got[1], q[..., 0])
    claim(fits, f"{BLOCKWISE}: came back with other shapes than (out, lse) have", got=got, case=case)
    for row in sorted(int(row) for row in rows) if fits else ():
        seen = np.s_[:, :, : row + 1]
        out, lse = (Result(np.ascontiguousarray(part.array[:, :, row : row + 1]), part.dtype, part.kind, part.facts, part.call) for part in got)
        is_answer((out, lse), attention(q[:, :, row : row + 1], k[seen], v[seen]), "float32", BLOCKWISE, f"row {row}, {case}")


@points(1)
@of(BLOCKWISE)
def test_impossible_blocks_refused(submission, rng):
    """A block size below 1, and q, k and v that don't fit each other, are a ValueError that names the argument."""
    q, k, v = qkv(rng, 2, 3, heads=2)
    for block_size in (0, -1, -7):
        refuses(lambda n=block_size: submission.blockwise_attention(q, k, v, n), ("block_size",), case=f"block_size={block_size}")
    misfits(rng, lambda *arrays: submission.blockwise_attention(*arrays, 2), width=4)
