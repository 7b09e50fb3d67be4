"""Exercise 05, claim by claim: the logits, their bound, and what saturation measures."""

import numpy as np
from attngrade.checks.claims import after, all_but_one, claim, number, of, points, refuses, tensor
from attngrade.checks.qk_norm_oracles import (
    ANY,
    GAINS,
    NAMES,
    NARROW,
    around,
    drawn_gains,
    drawn_pair,
    finite_at_zeros,
    least_bound,
    logits_pullback,
    same,
    same_gradients,
    same_saturation,
    scaled_dots,
    stored,
    values,
)


@points(2)
@of("qk_norm_logits")
@after("rms-norm-follows-the-formula")
def test_logits_are_scaled_dot_products_of_normed_vectors(submission, rng):
    """logits[b, h, i, j] is q_hat of query i times k_hat of key j, divided by sqrt(Dh)."""
    for sizes in [(1, 1, 1, 1, 1), (1, 1, 2, 3, 2), (2, 3, 4, 5, 6), (1, 9, 2, 2, int(rng.integers(65, 140))), (5, 2, *(int(t) for t in rng.integers(33, 70, 2)), 8), (3, 2, 6, 4, 5)]:
        (q, k), pair, ones = drawn_pair(rng, *sizes), drawn_gains(rng, sizes[-1]), np.ones((2, sizes[-1]))
        case = f"q {q.shape}, k {k.shape}"
        same(submission.qk_norm_logits(q, k, *ones), scaled_dots(q, k), dtype="float64", case=f"{case}, gains of one")
        same(submission.qk_norm_logits(q, k, *pair), scaled_dots(q, k, pair), dtype="float64", case=f"{case}, other gains")
    keywords = dict(zip(NAMES, (q, k, *pair), strict=True))
    same(submission.qk_norm_logits(**keywords), scaled_dots(q, k, pair), case="every argument by keyword")


@points(1)
@of("qk_norm_logits")
def test_larger_weights_change_no_logit(submission, rng):
    """Queries and keys a thousand times larger give the same logits, and so does one head or one token that grows alone."""
    (q, k), pair = drawn_pair(rng, 2, 3, 4, 5, 7), drawn_gains(rng, 7)
    want = values(submission.qk_norm_logits(q, k, *pair, eps=0.0), (2, 3, 4, 5), "q (2, 3, 4, 7), k (2, 3, 5, 7)")
    because = "The norm takes the length out of every q and k, so larger weights must not show in the logits."
    heads, queries, keys = (10.0 ** np.arange(n) for n in (3, 4, 5))
    for case, q_size, k_size in [
        ("q times 1000", 1e3, 1.0),
        ("k times 1000", 1.0, 1e3),
        ("head h of q and k times 10**h", heads[:, None, None], heads[:, None, None]),
        ("query i times 10**i, key j times 10**j", queries[:, None], keys[:, None]),
    ]:
        same(submission.qk_norm_logits(q * q_size, k * k_size, *pair, eps=0.0), want, case=case, because=because)


@points(1)
@of("qk_norm_logits")
@after("eps-is-added-to-the-mean-square", "logits-are-scaled-dot-products-of-normed-vectors")
def test_logits_use_eps_in_both_norms(submission, rng):
    """eps reaches both norms of the logits, and it is 1e-6 when none is given."""
    (q, k), pair = drawn_pair(rng, 1, 2, 3, 4, 5), drawn_gains(rng, 5)
    same(submission.qk_norm_logits(q, k, *pair, 0.5), scaled_dots(q, k, pair, 0.5), case="eps=0.5")
    q, k = 1e-3 * q, 1e-3 * k
    same(submission.qk_norm_logits(q, k, *pair, eps=0.0), scaled_dots(q, k, pair, 0.0), case="eps=0, q and k of size 0.001")
    same(submission.qk_norm_logits(q, k, *pair), scaled_dots(q, k, pair), case="q and k of size 0.001, the default eps of 1e-6")
    same(submission.qk_norm_logits(0 * q, k, *pair), np.zeros((1, 2, 3, 4)), scale=1.0, case="q = 0")


@points(2)
@of("qk_norm_logits")
@after("logits-are-scaled-dot-products-of-normed-vectors", "half-precision-input-is-squared-in-float32")
def test_logits_of_half_precision_input(submission, rng):
    """Norms and dot products of float16 and bfloat16 input run in float32, and the dtype of q and k comes back."""
    kinds = [("float32", "float32", 1.0), ("float64", "float32", 1.0), ("float16", "float16", 1.0), ("float16", "float32", 300.0)]
    for dtype, gain_dtype, size in [*kinds, ("float16", "float16", 1e-3), ("bfloat16", "bfloat16", 1.0), ("bfloat16", "float32", 300.0)]:
        (q, exact_q), (k, exact_k) = (stored(around(rng, size, 2, 2, t, 5), dtype) for t in (3, 4))
        (q_gain, exact_q_gain), (k_gain, exact_k_gain) = (stored(gain, gain_dtype) for gain in drawn_gains(rng, 5))
        got, want = submission.qk_norm_logits(q, k, q_gain, k_gain), scaled_dots(exact_q, exact_k, (exact_q_gain, exact_k_gain))
        same(got, want, dtype=dtype, case=f"{dtype} q and k of size {size:g}, {gain_dtype} gains")
    for dtype in ("float16", "bfloat16"):
        width = int(rng.integers(65, 140))
        (q, exact_q), (k, exact_k) = (stored(around(rng, 300.0, 1, 2, t, width), dtype) for t in (3, 4))
        pair = np.ones((2, width), dtype=np.float32)
        same(submission.qk_norm_logits(q, k, *pair), scaled_dots(exact_q, exact_k, pair), dtype=dtype, case=f"{dtype} q and k of size 300, Dh={width}")
    (q, exact_q), (gain, exact_gain) = stored(rng.uniform(0.5, 1.5, (1, 1, 2, 48)), "float16"), stored(np.full(48, 45.0), "float16")
    (x, exact), (y, exact_y) = (stored(rng.standard_normal((1, 1, t, 3)), "float16") for t in (2, 3))
    wide = (np.full(3, 3e5, dtype=np.float32), np.full(3, 1e-5, dtype=np.float32))
    because = "A normed q times a gain of 300000 is past the largest float16, the logit is not: cast back once, at the end."
    same(submission.qk_norm_logits(x, y, *wide), scaled_dots(exact, exact_y, wide), dtype="float16", case="float16, float32 gains of 3e5 and 1e-5", because=because)
    because = "48 * 45 * 45 is past the largest float16, the logit itself is not: add up and scale in float32, then cast back."
    got, want = submission.qk_norm_logits(q, q, gain, gain), scaled_dots(exact_q, exact_q, (exact_gain, exact_gain))
    same(got, want, dtype="float16", case="float16, Dh=48, gains of 45", because=because)


@points(1)
@of("qk_norm_logits")
@after("gradients-reach-x-and-the-gain", "logits-are-scaled-dot-products-of-normed-vectors")
def test_gradients_flow_through_the_logits(submission, rng):
    """Gradients flow from the logits to q, k and both gains, past a query of zeros too."""
    (q, k), pair, upstream = drawn_pair(rng, 2, 2, 3, 4, 5), drawn_gains(rng, 5), rng.standard_normal((2, 2, 3, 4))
    for case in ("q and k of size 1", "a query of zeros"):
        for_q, *others = logits_pullback(q, k, pair, upstream)
        got, grads = submission.vjp("qk_norm_logits", q, k, *pair, wrt=(0, 1, 2, 3), cotangent=upstream)
        same(got, scaled_dots(q, k, pair), case=f"the result while gradients are recorded, {case}")
        same_gradients(grads, (finite_at_zeros(grads[0], for_q, q), *others), NAMES, case)
        for dtype, tol in NARROW:
            narrow = [tensor(x, dtype) for x in (q, k, *pair)]
            _, rough = submission.vjp("qk_norm_logits", *narrow, wrt=(0, 1, 2, 3), cotangent=tensor(upstream, dtype))
            same_gradients(rough, (finite_at_zeros(rough[0], for_q, q), *others), NAMES, f"{case}, {dtype}", tol)
        q[0, 1, 2] = 0
    t_q, t_k, width = (int(n) for n in rng.integers((17, 33, 17), (33, 60, 70)))
    (q, k), pair, upstream = drawn_pair(rng, 2, 2, t_q, t_k, width), drawn_gains(rng, width), rng.standard_normal((2, 2, t_q, t_k))
    _, grads = submission.vjp("qk_norm_logits", q, k, *pair, wrt=(0, 1, 2, 3), cotangent=upstream)
    same_gradients(grads, logits_pullback(q, k, pair, upstream), NAMES, f"q {q.shape}, k {k.shape}")


@points(1)
@of("qk_norm_logits")
def test_logits_refuse_what_does_not_fit(submission, rng):
    """Ranks, widths, heads or gains that don't fit are a ValueError."""
    q_shape, k_shape = (2, 3, 2, 4), (2, 3, 5, 4)
    for shapes in [
        ((2, 4), (2, 4), (4,), (4,)),
        ((2, 3, 4), (2, 3, 4), (4,), (4,)),
        ((1, 2, 3, 2, 4), (1, 2, 3, 2, 4), (4,), (4,)),
        (q_shape, (3, 2, 4), (4,), (4,)),
        ((3, 2, 4), k_shape, (4,), (4,)),
        (q_shape, (2, 3, 5, 3), (4,), (3,)),
        (q_shape, (2, 3, 5, 1), (4,), (1,)),
        (q_shape, (2, 3, 5, 1), (4,), (4,)),
        (q_shape, (2, 2, 5, 4), (4,), (4,)),
        (q_shape, (2, 1, 5, 4), (4,), (4,)),
        ((2, 1, 2, 4), k_shape, (4,), (4,)),
        (q_shape, k_shape, (3,), (4,)),
        (q_shape, k_shape, (4,), (5,)),
        (q_shape, k_shape, (1,), (4,)),
        (q_shape, k_shape, (4,), (1,)),
        (q_shape, k_shape, (3, 1, 4), (3, 1, 4)),
        (q_shape, k_shape, (), (4,)),
    ]:
        case = ", ".join(f"{name} {shape}" for name, shape in zip(NAMES, shapes, strict=True))
        arguments = [rng.standard_normal(shape) for shape in shapes]
        refuses(lambda arguments=arguments: submission.qk_norm_logits(*arguments), ANY, case=case)


def bounds_tightly(got, least, *, rel, case):
    bound, slack = number(got), rel * least
    claim(np.isfinite(bound), "The bound is not a finite number", got=bound, want=least, case=case)
    claim(bound >= least - slack, "The bound is too small: some q and k give a larger |logit|", got=bound, want=least, case=case)
    claim(bound <= least / 0.99 + slack, "The bound is not the least one: no q and k come near it", got=bound, want=least, case=case)


@points(2)
@of("logit_bound")
def test_the_bound_is_the_least_one(submission, rng):
    """No q and k exceed the bound, and some come within 1% of it, whatever the signs of the gains."""
    for q_gain, k_gain, case in [
        ([2.0], [1.5], "Dh=1"),
        ([-2.0], [1.5], "Dh=1, a negative gain"),
        ([1.0, 1.0, 1.0], [1.0, 1.0, 1.0], "gains of one, Dh=3"),
        ([1.0, -3.0, 0.5], [0.5, 2.0, 1.0], "the largest product is negative"),
        ([-2.0, 1.0, 0.5], [-3.0, 1.0, 2.0], "two negative gains"),
        ([5.0, 1.0, 2.0, 0.1, 1.0], [0.3, 1.0, 1.5, 6.0, -1.0], "the gains are largest at different places"),
        ([0.0, 0.0, 4.0], [3.0, 1.0, 0.0], "every product is 0"),
    ]:
        q_gain, k_gain = np.array(q_gain), np.array(k_gain)
        bounds_tightly(submission.logit_bound(q_gain, k_gain), least_bound(q_gain, k_gain), rel=1e-6, case=case)
    ones, case = np.ones(3), "gains of one, the same tensor as before with another gain inside"
    near = all_but_one(ones, rng)
    bounds_tightly(submission.logit_bound(near, ones, _before=(ones, ones)), least_bound(near, ones), rel=1e-6, case=case)
    for width, dtype, rel in [(7, "float64", 1e-6), (10, "float32", 2e-5), (6, "float16", 4e-3), (11, "bfloat16", 3e-2),
                              (int(rng.integers(65, 140)), "float64", 1e-6), (int(rng.integers(257, 600)), "float32", 2e-5)]:
        for size in (1.0, 0.01):
            (q_gain, exact_q), (k_gain, exact_k) = (stored(around(rng, size, width), dtype) for _ in range(2))
            got = submission.logit_bound(q_gain=q_gain, k_gain=k_gain)
            bounds_tightly(got, least_bound(exact_q, exact_k), rel=rel, case=f"{dtype} gains of size {size:g}, Dh={width}")


@points(1)
@of("logit_bound")
def test_the_bound_refuses_gains_that_do_not_fit(submission):
    """Gains that are not two vectors of the same length are a ValueError."""
    unlike = [((3,), (4,)), ((3,), (1,)), ((1,), (3,))]
    for q_shape, k_shape in [*unlike, ((2, 3), (2, 3)), ((3,), (1, 3)), ((1, 3), (3,)), ((), ()), ((3,), ())]:
        q_gain, k_gain, case = np.ones(q_shape), np.ones(k_shape), f"q_gain {q_shape}, k_gain {k_shape}"
        refuses(lambda q_gain=q_gain, k_gain=k_gain: submission.logit_bound(q_gain, k_gain), GAINS, case=case)


@points(2)
@of("saturation")
def test_saturation_is_the_mean_jacobian_norm(submission, rng):
    """Saturation is the Frobenius norm of each row's softmax Jacobian, averaged over all rows."""
    for shape in [(2,), (4,), (1, 3), (3, 4), (5, 2), (3, 1), (2, 3, 5), (2, 3, 4, 6), (4, 8, int(rng.integers(65, 140)), 9), (2, 1, 3, 2, 4)]:
        logits = rng.uniform(-1.5, 1.5, shape) * (rng.uniform(0.1, 1.0, (*shape[:-1], 1)) if len(shape) > 1 else 1.0)
        same_saturation(submission.saturation(logits), logits, rel=1e-9, case=f"logits of shape {shape}")
    near = all_but_one(logits, rng)
    same_saturation(submission.saturation(near, _before=(logits,)), near, rel=1e-9, case="the same tensor as before with another logit inside")


@points(1)
@of("saturation")
@after("saturation-is-the-mean-jacobian-norm")
def test_saturated_rows_count_as_zero(submission, rng):
    """A one-hot row counts as 0 beside the others, however large its logits are."""
    logits = rng.uniform(-1, 1, (2, 3, 5)) + np.array([-800.0, 0.0, 900.0])[:, None]
    same_saturation(submission.saturation(logits), logits, rel=1e-9, case="rows around -800, 0 and 900")
    logits[0, 1], logits[1, 2] = 1e5 * np.arange(5), -1e4 * np.arange(5)
    same_saturation(submission.saturation(logits), logits, rel=1e-6, case="two rows of six are one-hot")
    for dtype, low, high in [("float64", 17.5, 19.7), ("float32", 8.0, 9.6)]:  # where cancelled terms near 1 fall below 0 in one row of twelve
        rows = np.concatenate([rng.uniform(low, high, (200, 1)), rng.uniform(-1, 0, (200, 3))], axis=1)
        logits, exact = stored(rows, dtype)
        same_saturation(submission.saturation(logits), exact, rel=1e-3, case=f"{dtype}, every row nearly one-hot")


@points(1)
@of("saturation")
@after("saturation-is-the-mean-jacobian-norm")
def test_saturation_of_lower_precision_logits(submission, rng):
    """float32, float16 and bfloat16 logits give the same number as their exact values."""
    for dtype, rel in [("float32", 2e-5), ("float16", 4e-3), ("bfloat16", 3e-2)]:
        logits, exact = stored(rng.uniform(-1, 1, (3, 2, 6)), dtype)
        same_saturation(submission.saturation(logits), exact, rel=rel, case=f"{dtype} logits")
    large = 6e4 * np.array([[1.0, -1.0, 0.5], [1.0, 1.0, -1.0]])
    for rows, case in [(np.zeros(811), "811 equal float16 logits"), (large, "float16 logits of 60000")]:
        logits, exact = stored(rows, "float16")
        same_saturation(submission.saturation(logits), exact, rel=4e-3, case=case)


@points(1)
@of("qk_norm_logits", "saturation")
@after("saturation-is-the-mean-jacobian-norm", "logits-are-scaled-dot-products-of-normed-vectors", "larger-weights-change-no-logit")
def test_qk_norm_keeps_the_gradient_alive(submission, rng):
    """With weights a thousand times larger, plain logits saturate and the normed ones don't."""
    x, weights, ones = rng.standard_normal((2, 1, 5, 6)), rng.standard_normal((2, 3, 6, 6)), np.ones((2, 6))
    for size in (1.0, 1e3):
        q, k = x @ (size * weights[0]), x @ (size * weights[1])
        plain, case = q @ k.swapaxes(-1, -2) / np.sqrt(6), f"weights times {size:g}"
        same_saturation(submission.saturation(plain), plain, rel=1e-6, case=f"plain logits, {case}")
        normed = submission.qk_norm_logits(q, k, *ones)
        same(normed, scaled_dots(q, k), case=f"normed logits, {case}")
        same_saturation(submission.saturation(normed.array), normed.array, rel=1e-6, case=f"normed logits, {case}")


@points(1)
@of("saturation")
def test_a_single_number_has_no_rows(submission):
    """Logits of rank 0 are a ValueError."""
    refuses(lambda: submission.saturation(np.array(0.5)), ("logits",), case="logits of rank 0")
