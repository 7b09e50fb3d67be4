"""Exercise 04, claim by claim: attention with all heads, from one head to every gradient."""

import numpy as np
from attngrade.checks.claims import Result, after, claim, of, points, tensor
from attngrade.checks.multi_head_oracles import (
    SCALES,
    SIZES,
    UNLIKE,
    WEIGHTS,
    attention,
    drawn,
    near,
    one_by_one,
    pull_back,
    same,
    scale_behind,
    seen,
    sieve,
    split,
    widened,
)


@points(1)
@of("multi_head_attention")
def test_a_call_knows_nothing_of_earlier_calls(submission, rng):
    """Two sequences give the same in one batch as one after the other: a result depends on the arguments of its own call alone."""
    x, *weights = drawn(rng, 2, 4, 6, 2, 2, 3)
    one_by_one(submission, x, weights, None)


@points(1)
@of("multi_head_attention")
@after("a-call-knows-nothing-of-earlier-calls")
def test_the_weights_of_a_query_sum_to_one(submission, rng):
    """Where all values are equal the result is that value, whatever the scores: the weights over keys sum to 1."""
    for sizes in [(1, 2, 4, 1, 1, 3), (2, 4, 6, 3, 3, 5)]:
        x, w_q, w_k, w_v, w_o = drawn(rng, *sizes)
        x[..., 0], w_v[1:] = 1, 0
        want, why = np.broadcast_to(w_v[0] @ w_o, x.shape), "All values are equal, so their weighted mean is that value."
        case = "every token has the same value, " + SIZES.format(*sizes)
        same(submission.multi_head_attention(x, w_q, w_k, w_v, w_o, sizes[3]), want, dtype="float64", case=case, because=why)


@points(1)
@of("multi_head_attention")
@after("a-call-knows-nothing-of-earlier-calls")
def test_equal_scores_give_the_mean_of_the_values(submission, rng):
    """Where all scores are equal every query gets the plain mean of the values of its head."""
    for sizes in [(1, 2, 4, 1, 1, 3), (2, 3, 7, 2, 2, 4), (2, 4, 5, 3, 3, 2)]:
        x, w_q, w_k, w_v, w_o = drawn(rng, *sizes)
        args = (x, 0 * w_q, w_k, w_v, w_o, sizes[3])
        case, why = "w_q = 0, " + SIZES.format(*sizes), "All scores are 0, so the weights are all equal and only w_v and w_o count."
        same(submission.multi_head_attention(*args), attention(*args), dtype="float64", case=case, because=why)


@points(2)
@of("multi_head_attention")
@after("the-weights-of-a-query-sum-to-one", "equal-scores-give-the-mean-of-the-values")
def test_scores_are_divided_by_the_root_of_the_head_width(submission, rng):
    """Scores are scaled by 1/sqrt(Dh): Dh is the width of one head, from w_q, whatever D and H are."""
    sizes = (1, 3, 13, 2, 2, 5)
    x, *weights = drawn(rng, *sizes)
    got, want, case, right = submission.multi_head_attention(x, *weights, 2), attention(x, *weights, 2), SIZES.format(*sizes), 5**-0.5
    for _ in seen(got, shape=want.shape):
        scale = scale_behind(got.array, x, *weights) or right
        said = next((f" (= {name})" for name, value in SCALES.items() if abs(scale / value - 1) < 1e-6), "")
        claim(abs(scale - right) < 1e-6, f"comes from scores times {scale:.4g}{said}; Dh is 5 and 1/sqrt(5) = 0.4472", got=got, case=case)
    same(got, want, dtype="float64", case=case)


@points(2)
@of("multi_head_attention")
@after("the-weights-of-a-query-sum-to-one", "equal-scores-give-the-mean-of-the-values", "scores-are-divided-by-the-root-of-the-head-width")
def test_one_head_is_plain_attention(submission, rng):
    """With one head it is softmax(q k^T / sqrt(Dh)) v w_o, over the tokens of each sequence."""
    for b, t, d, dh in [(1, 1, 3, 2), (1, 3, 5, 2), (1, 3, 2, 4), (2, 4, 3, 9)]:
        args = drawn(rng, b, t, d, 1, 1, dh)
        same(submission.multi_head_attention(*args, 1), attention(*args, 1), dtype="float64", case=SIZES.format(b, t, d, 1, 1, dh), proves=t > 1)


@points(1)
@of("multi_head_attention")
@after("a-call-knows-nothing-of-earlier-calls")
def test_heads_and_sequences_do_not_mix(submission, rng):
    """What belongs to one head or one sequence has no influence on the others."""
    x, w_q, w_k, w_v, _ = drawn(rng, 2, 5, 12, 3, 3, 4)
    args, other = (x, w_q, w_k, w_v, np.eye(12)), [a + 0.0 for a in (x, w_q, w_k, w_v)]
    other[0][1] += 1
    for moved in other[1:]:
        moved[:, 4:8] += 0.5
    before, heads, sequences = (submission.multi_head_attention(*a, 3) for a in (args, (x, *other[1:], args[4]), (other[0], *args[1:])))
    case, told = "w_o the identity; columns 4 to 7 of w_q, w_k and w_v changed", "has columns 0 to 3, head 0's, that follow the columns of head 1"
    for arrays in seen(before, heads, sequences, shape=x.shape):
        claim(near(arrays[1][..., :4], arrays[0][..., :4]), told, got=heads, case=case)
        told = "has columns 4 to 7, head 1's, that don't follow the columns of head 1"
        claim(not near(arrays[1][..., 4:8], arrays[0][..., 4:8]), told, got=heads, case=case)
        case, told = "sequence 1 of x changed", "for sequence 0 follows sequence 1"
        claim(near(arrays[2][0], arrays[0][0]), told, got=sequences, case=case)
        claim(not near(arrays[2][1], arrays[0][1]), "for sequence 1 doesn't follow sequence 1", got=sequences, case=case)


@points(1)
@of("multi_head_attention")
@after("heads-and-sequences-do-not-mix")
def test_a_key_head_serves_neighbouring_query_heads(submission, rng):
    """With 4 query heads and 2 key/value heads, key/value head 0 serves query heads 0 and 1, and head 1 serves 2 and 3."""
    x, *weights = (*drawn(rng, 1, 3, 12, 4, 2, 3)[:4], np.eye(12))
    results = [submission.multi_head_attention(x, *weights, 4, 2)]
    for place, name in ((1, "w_k"), (2, "w_v")):
        changed = [weight + 0.0 for weight in weights]
        changed[place][:, 3:] += 0.5
        results.append(submission.multi_head_attention(x, *changed, 4, 2))
        for before, after_ in seen(results[0], results[-1], shape=x.shape):
            follow = [h for h in range(4) if not near(split(after_, 4)[:, h], split(before, 4)[:, h])]
            told = f"shows key/value head 1 in query heads {follow or 'of no number'}; it serves query heads [2, 3]"
            claim(follow == [2, 3], told, got=results[-1], case=f"columns 3 to 5 of {name} changed, w_o the identity, n_heads=4, n_kv_heads=2")


@points(2)
@of("multi_head_attention")
@after("a-call-knows-nothing-of-earlier-calls")
def test_true_means_may_attend(submission, rng):
    """A key whose mask is False has no influence on a query, a key whose mask is True has."""
    x, *weights = drawn(rng, 1, 4, 5, 2, 2, 3)
    mask = np.array([[True, True, False, False]] * 4)
    moved = [x + shift for shift in (0 * x, np.eye(4)[1][:, None], np.eye(4)[3][:, None])]
    results = [submission.multi_head_attention(a, *weights, 2, None, mask) for a in moved]
    case = "T=4, mask True at keys 0 and 1, False at keys 2 and 3; result of token 0"
    for arrays in seen(*results, shape=x.shape):
        visible, hidden = (not near(array[0, 0], arrays[0][0, 0]) for array in arrays[1:])
        told = "reads the mask the wrong way round: it follows token 3 (mask False) and ignores token 1 (mask True)"
        claim(visible or not hidden, told, got=results[2], case=case)
        claim(not hidden, "follows token 3, which the mask hides (False)", got=results[2], case=case)
        claim(visible, "ignores token 1, which the mask shows (True)", got=results[1], case=case)


@points(2)
@of("multi_head_attention")
@after("one-head-is-plain-attention", "heads-and-sequences-do-not-mix")
def test_every_head_attends_by_itself(submission, rng):
    """Heads attend by themselves and are projected together, whether H*Dh equals D or not, in float64 and float32."""
    heads, batch, width = (int(n) for n in rng.integers((5, 6, 20), (8, 9, 70)))
    for sizes in (*UNLIKE, (batch, 3, 9, heads, heads, width)):
        args = drawn(rng, *sizes)
        same(submission.multi_head_attention(*args, sizes[3]), attention(*args, sizes[3]), dtype="float64", case=SIZES.format(*sizes), proves=sizes[1] > 1)
    args = [tensor(a, "float32").data for a in drawn(rng, *UNLIKE[0])]
    want = attention(*(a.astype(float) for a in args), 3)
    same(submission.multi_head_attention(*args, 3), want, dtype="float32", case="float32, " + SIZES.format(*UNLIKE[0]))


@points(2)
@of("multi_head_attention")
@after("every-head-attends-by-itself", "query-heads-share-key-heads-in-groups", "a-mask-takes-keys-out-of-the-softmax")
def test_gradients_reach_x_and_every_weight(submission, rng):
    """Gradients of x and of all four weights are right, with a mask, with shared key heads, and for bfloat16."""
    for sizes, mask, dtype in [
        ((1, 3, 4, 2, 2, 3), None, "float64"),
        ((2, 4, 7, 3, 1, 2), sieve(4).T, "float64"),
        ((2, 4, 5, 4, 2, 3), sieve(4), "float64"),
        ((1, 13, 7, 8, 4, 18), sieve(13), "float64"),
        ((2, 3, 5, 2, 2, 4), None, "bfloat16"),
        ((2, 3, 5, 4, 2, 4), sieve(3), "float16"),
        ((2, 3, 5, 4, 2, 3), sieve(3), "float32"),
    ]:
        (*btd, h, g, _), sent = sizes, [tensor(a, dtype) for a in drawn(rng, *sizes)]
        args, up = [widened(a) for a in sent], rng.integers(-8, 9, btd) / 8
        got, grads = submission.vjp("multi_head_attention", *sent, h, g, mask, wrt=(0, 1, 2, 3, 4), cotangent=up)
        same(got, attention(*args, h, g, mask), dtype=dtype, case="the result while gradients are recorded")
        missing = [name for name, grad in zip(WEIGHTS, grads, strict=True) if not isinstance(grad, Result)]
        where = f"{dtype}, {'no mask' if mask is None else 'with a mask'}, " + SIZES.format(*sizes)
        claim(not missing, f"No gradient reaches {' and '.join(missing)}: somewhere on the way the graph is cut", case=where)
        for name, grad, want in zip(WEIGHTS, grads, pull_back(*args, h, g, mask, up), strict=True):
            if isinstance(grad, Result):
                same(grad, want, tol={"float64": 1e-8, "float32": 1e-4}.get(dtype, 0.1), atol=1e-12, case=f"gradient of {name}, {where}")
