"""Exercise 04, claim by claim: attention with shared key heads, with masks, in half precision, and over many calls."""

import numpy as np
from attngrade.checks.claims import Result, after, of, points, tensor
from attngrade.checks.multi_head_oracles import (
    FLOATS,
    GROUPED,
    SIZES,
    WEIGHTS,
    attention,
    drawn,
    far_below,
    far_from_zero,
    huge_inside,
    layouts,
    nearly_cancelling,
    one_by_one,
    pull_back,
    same,
    sieve,
    widened,
)


@points(2)
@of("multi_head_attention")
@after("every-head-attends-by-itself", "a-key-head-serves-neighbouring-query-heads")
def test_query_heads_share_key_heads_in_groups(submission, rng):
    """With n_kv_heads given, query head h uses key/value head h // (n_heads / n_kv_heads); None means n_heads."""
    groups, copies, batch, width = (int(n) for n in rng.integers((1, 5, 5, 17), (3, 8, 7, 24)))
    for sizes in (*GROUPED, (batch, 3, 7, groups * copies, groups, width)):
        (*_, h, g, _), args, case = sizes, drawn(rng, *sizes), SIZES.format(*sizes)
        same(submission.multi_head_attention(*args, h, g), attention(*args, h, g), dtype="float64", case=case)
        if g == h:
            same(submission.multi_head_attention(*args, h, None), attention(*args, h), dtype="float64", case="n_kv_heads=None, " + case)


@points(1)
@of("multi_head_attention")
@after("a-call-knows-nothing-of-earlier-calls", "true-means-may-attend")
def test_a_mask_is_forgotten_after_its_call(submission, rng):
    """Two sequences with masks of their own give the same in one batch as one after the other."""
    x, *weights = drawn(rng, 2, 4, 6, 2, 2, 3)
    one_by_one(submission, x, weights, np.stack([sieve(4), sieve(4).T])[:, None])


@points(2)
@of("multi_head_attention")
@after("a-mask-is-forgotten-after-its-call", "true-means-may-attend", "every-head-attends-by-itself")
def test_a_mask_takes_keys_out_of_the_softmax(submission, rng):
    """With a mask the softmax runs over the visible keys alone: their weights sum to 1, row by row."""
    x, w_q, w_k, w_v, w_o = drawn(rng, 2, 4, 6, 3, 3, 5)
    x[..., 0], w_v[1:] = 1, 0
    got, want = submission.multi_head_attention(x, w_q, w_k, w_v, w_o, 3, None, sieve(4)), np.broadcast_to(w_v[0] @ w_o, x.shape)
    why = "All values are equal, so their weighted mean is that value: the weights of the visible keys sum to 1."
    same(got, want, dtype="float64", case="every token has the same value, query i sees all keys but i + 1, i + 4, ...", because=why)
    for case, mask in [("query i sees all keys but i - 2, i + 1, i + 4", sieve(5)), ("mask lower triangle", np.tri(5, dtype=bool))]:
        args = drawn(rng, 2, 5, 6, 3, 3, 4)
        same(submission.multi_head_attention(*args, 3, None, mask), attention(*args, 3, mask=mask), dtype="float64", case=f"T=5, {case}")
    batch, t, width = (int(n) for n in rng.integers((5, 20, 17), (7, 30, 24)))
    args, mask = drawn(rng, batch, t, 12, 8, 4, width), sieve(t)
    case = "query i sees all keys but i + 1, i - 2, i + 4, ..., " + SIZES.format(batch, t, 12, 8, 4, width)
    same(submission.multi_head_attention(*args, 8, 4, mask), attention(*args, 8, 4, mask), dtype="float64", case=case)


@points(2)
@of("multi_head_attention")
@after("a-mask-takes-keys-out-of-the-softmax", "query-heads-share-key-heads-in-groups")
def test_the_mask_broadcasts_to_the_scores(submission, rng):
    """A mask of any shape that broadcasts to (B, H, T, T) means what broadcasting says."""
    for b, t, d, h, g, dh in [(2, 4, 5, 3, 3, 2), (3, 3, 4, 3, 3, 2), (2, 5, 6, 4, 2, 3)]:
        args = drawn(rng, b, t, d, h, g, dh)
        low = [(h, 1, t), (1, t, t), (h, t, t), (1, t), (t, t), (t,), ()]
        for shape in [(b, 1, 1, t), (1, 1, t, t), (b, 1, t, t), (1, h, 1, t), (b, h, t, t), (b, h, 1, t), (1, h, t, t), (1, 1, 1, t), *low]:
            mask = rng.random(shape) < 0.5 if shape else np.ones(shape, dtype=bool)
            if shape:
                mask[..., rng.integers(t)] = True
            sent = tensor(mask, order=tuple(reversed(range(mask.ndim)))) if mask.ndim > 1 else tensor(mask)
            case = f"mask of shape {shape}, " + SIZES.format(b, t, d, h, g, dh)
            same(submission.multi_head_attention(*args, h, g, sent), attention(*args, h, g, mask), dtype="float64", case=case)


@points(1)
@of("multi_head_attention")
@after("a-mask-takes-keys-out-of-the-softmax")
def test_hidden_keys_stay_hidden(submission, rng):
    """Hidden keys get no weight and no gradient, however large their scores are and however low the visible ones."""
    args, mask = drawn(rng, 2, 5, 6, 2, 2, 4), np.ones((5, 5), dtype=bool)
    mask[:, 4], args[0][..., 0], args[0][:, 4, 0], args[1][0] = False, 0, 6000, 0
    case, up = "the hidden key's scores reach thousands", rng.standard_normal((2, 5, 6))
    same(submission.multi_head_attention(*args, 2, mask=mask), attention(*args, 2, mask=mask), dtype="float64", case=case)
    _, grads = submission.vjp("multi_head_attention", *args, 2, None, mask, wrt=(0, 1, 2, 3, 4), cotangent=up)
    for name, grad, right in zip(WEIGHTS, grads, pull_back(*args, 2, 2, mask, up), strict=True):
        if isinstance(grad, Result):
            same(grad, right, tol=1e-8, atol=1e-12, case=f"gradient of {name}, {case}")
    args, mask = drawn(rng, 2, 4, 16, 4, 4, 16), np.roll(np.eye(4, dtype=bool), 1, axis=1)  # powers of 4 and 16: every way to scale is exact
    args[0][..., 0] = 1
    for weight, height in zip(args[1:3], (2.0**70, -(2.0**70)), strict=True):
        weight[:], weight[0] = 0, height
    want = attention(*args, 4, mask=mask)
    case, why = "every score far below zero, one key visible to each query", "A key that is seen alone gets all the weight, however low its score is."
    same(submission.multi_head_attention(*args, 4, mask=mask), want, dtype="float64", case=case, because=why)


@points(1)
@of("multi_head_attention")
@after("every-head-attends-by-itself")
def test_large_scores_stay_finite(submission, rng):
    """Scores of several thousand give finite and right results."""
    args = drawn(rng, 2, 5, 6, 3, 3, 4, sharp=1500.0)
    same(submission.multi_head_attention(*args, 3), attention(*args, 3), dtype="float64", case="scores in the thousands")


@points(2)
@of("multi_head_attention")
@after("every-head-attends-by-itself")
def test_half_precision_is_computed_in_float32(submission, rng):
    """float16 and bfloat16 inputs give a result of their dtype, computed in float32 and cast back once."""
    kinds = (("ordinary values", drawn), ("keys and values far from zero", far_from_zero), ("projections above 65504", huge_inside))
    for dtype in ("float16", "bfloat16"):
        for case, make in kinds:
            sent = [tensor(a, dtype) for a in make(rng, 2, 5, 12, 4, 2, 4)]
            want = attention(*(widened(a) for a in sent), 4, 2)
            same(submission.multi_head_attention(*sent, 4, 2), want, dtype=dtype, case=f"{dtype}, {case}")
    for dtype in FLOATS[1:]:
        sent = [tensor(a, dtype) for a in drawn(rng, 2, 5, 12, 4, 2, 4)]
        want = attention(*(widened(a) for a in sent), 4, 2, sieve(5))
        same(submission.multi_head_attention(*sent, 4, 2, sieve(5)), want, dtype=dtype, case=f"{dtype}, with a mask")
    args, why = nearly_cancelling(rng), "Weights stay float32 until the values are averaged, and the result is cast back once, at the end."
    got = submission.multi_head_attention(*(tensor(a, "bfloat16") for a in args), 1)
    same(got, attention(*args, 1), dtype="bfloat16", case="bfloat16, values of 60 whose mean is small", because=why)
    (x, *weights), mask = far_below(rng), sieve(4)
    case, why = "float16, every score near -131072, with a mask", "No finite number of float16 lies below every score: hide with -inf, or with one of float32's."
    got = submission.multi_head_attention(*(tensor(a, "float16") for a in (x, *weights)), 2, None, mask)
    same(got, attention(x, *weights, 2, None, mask), dtype="float16", tol=0.05, case=case, because=why)


@points(1)
@of("multi_head_attention")
@after("query-heads-share-key-heads-in-groups")
def test_attention_follows_values_not_memory(submission, rng):
    """The result is the same for every memory layout of x and of the weights, and for arguments given by name."""
    args = drawn(rng, 2, 5, 6, 4, 2, 3)
    want, named = attention(*args, 4, 2), dict(zip(WEIGHTS, args, strict=True))
    got = submission.multi_head_attention(**named, n_heads=4, n_kv_heads=2, mask=None)
    same(got, want, dtype="float64", case="every argument given by name")
    for layout, x in layouts(args[0], "float64"):
        same(submission.multi_head_attention(x, *args[1:], 4, 2), want, dtype="float64", case=f"x with {layout}")
    turned = [tensor(w, order=(1, 0)) for w in args[1:]]
    same(submission.multi_head_attention(args[0], *turned, 4, 2), want, dtype="float64", case="weights that are transposes in memory")
    gapped = [tensor(w, gap=2, guard=3) for w in args[1:]]
    same(submission.multi_head_attention(args[0], *gapped, 4, 2), want, dtype="float64", case="weights with gaps between their rows")


@points(1)
@of("multi_head_attention")
@after("query-heads-share-key-heads-in-groups", "a-mask-takes-keys-out-of-the-softmax")
def test_attention_remembers_nothing(submission, rng):
    """A result of multi_head_attention depends on the arguments of its own call alone, before and after other calls."""
    args, other, mask = drawn(rng, 2, 4, 6, 4, 2, 3), drawn(rng, 2, 4, 6, 4, 2, 3), sieve(4)
    want = attention(*args, 4, 2, mask)
    first = submission.multi_head_attention(*args, 4, 2, mask, _keep=True)
    same(first, want, case="the first call")
    why = "The result depends on the arguments of its own call alone."
    for case, asked in {
        "other x": (other[0], *args[1:], 4, 2, mask),
        "other weights": (args[0], *other[1:], 4, 2, mask),
        "another mask": (*args, 4, 2, mask.T),
        "no mask": (*args, 4, 2, None),
    }.items():
        same(submission.multi_head_attention(*asked), attention(*asked), case=f"a later call, {case}", because=why)
    kept = "A result that was handed out belongs to its caller; no later call may change it."
    same(submission.reread(first), want, case="the first result, read again after other calls", because=kept)
    got = submission.multi_head_attention(*args, 4, 2, mask, _before=(*other, mask.T))
    told = "It is tensors that are remembered here, and not what is in them: their caller had changed them in place."
    same(got, want, case="the same tensors with new values", because=told)
    submission.scribble(first)
    again = submission.multi_head_attention(*args, 4, 2, mask)
    same(again, want, case="the first arguments again, after a caller has overwritten the first result", because=why)
