"""Exercise 05, claim by claim: the module."""

import numpy as np
from attngrade.checks.claims import after, claim, expect, of, points, refuses
from attngrade.checks.qk_norm_oracles import (
    ANY,
    NAMES,
    NARROW,
    around,
    drawn_gains,
    drawn_pair,
    drawn_triple,
    listed,
    load,
    norm_pullback,
    norms,
    same,
    same_gradients,
    same_pair,
    stored,
    two,
    values,
)


@points(2)
@of("QKNorm")
def test_two_gains_that_start_as_ones(submission):
    """QKNorm holds exactly two parameters, q_gain and k_gain, both (head_dim,), ones, and trainable."""
    want = ["k_gain", "q_gain"]
    for width in (1, 3, 10):
        module, case = submission.QKNorm(width), f"QKNorm({width})"
        held, state = module.parameters(), module.state()
        told = f"The parameters are {listed(held)}; exactly two are asked, q_gain and k_gain"
        claim(sorted(held) == want, told, got=sorted(held), want=want, case=case)
        told = f"The state dict holds {listed(state)}; q_gain and k_gain are asked, and nothing else"
        claim(sorted(state) == want, told, got=sorted(state), want=want, case=case)
        for name in want:
            same(held[name], np.ones(width), case=f"{case}: {name} at the start")
            claim(held[name].requires_grad, f"{name} can't be trained: its requires_grad is off", got=False, want=True, case=case)


@points(2)
@of("QKNorm")
@after("rms-norm-follows-the-formula", "two-gains-that-start-as-ones")
def test_each_side_has_its_own_gain(submission, rng):
    """Queries are normalised with q_gain, keys with k_gain, and T_q and T_k may differ."""
    for sizes in [(1, 1, 1, 1, 1), (1, 1, 2, 1, 3), (2, 2, 3, 17, int(rng.integers(65, 140))), (2, 3, 4, 5, 6)]:
        (q, k), pair, module = drawn_pair(rng, *sizes), drawn_gains(rng, sizes[-1]), submission.QKNorm(sizes[-1])
        case = f"q {q.shape}, k {k.shape}"
        same_pair(module(q, k), norms(q, k), dtype="float64", case=f"{case}, gains of one")
        same_pair(load(module, pair)(q, k), norms(q, k, pair), dtype="float64", case=f"{case}, other gains")
    same_pair(module(k=k, q=q), norms(q, k, pair), dtype="float64", case="q and k by keyword")


@points(1)
@of("QKNorm")
def test_only_dh_is_normalised(submission, rng):
    """A head or a token that grows changes neither the others nor itself: each vector is normalised over its own Dh."""
    (q, k), module = drawn_pair(rng, 2, 3, 4, 5, 6), submission.QKNorm(6, eps=0.0)
    wants = [values(got, x.shape, name) for got, x, name in zip(two(module(q, k), "q and k"), (q, k), ("q_hat", "k_hat"), strict=True)]
    because = "The norm takes every vector's own size out, so a head or a token that grows must not show."
    for case, sizes in [("head h grows by 10**h", 10.0 ** np.arange(3)[:, None, None]), ("token t grows by 10**t", None)]:
        q_sizes, k_sizes = (10.0 ** np.arange(x.shape[2])[:, None] if sizes is None else sizes for x in (q, k))
        same_pair(module(q * q_sizes, k * k_sizes), wants, case=case, because=because)


@points(1)
@of("QKNorm")
@after("eps-is-added-to-the-mean-square", "each-side-has-its-own-gain")
def test_the_module_uses_its_eps(submission, rng):
    """The eps given to QKNorm reaches both norms, and it is 1e-6 when none is given."""
    q, k = drawn_pair(rng, 2, 2, 3, 4, 5)
    same_pair(submission.QKNorm(5, 0.5)(q, k), norms(q, k, eps=0.5), case="QKNorm(5, 0.5)")
    q, k = 1e-3 * q, 1e-3 * k
    same_pair(submission.QKNorm(head_dim=5, eps=0.0)(q, k), norms(q, k, eps=0.0), case="eps=0, q and k of size 0.001")
    same_pair(submission.QKNorm(5)(q, k), norms(q, k), case="q and k of size 0.001, the default eps of 1e-6")


@points(1)
@of("QKNorm")
@after("the-dtype-of-x-comes-back", "half-precision-input-is-squared-in-float32", "each-side-has-its-own-gain")
def test_float32_gains_leave_the_dtype_alone(submission, rng):
    """The module's gains are float32; q_hat and k_hat still have the dtype of q and k."""
    pair = drawn_gains(rng, 5)
    module = load(submission.QKNorm(5), pair)
    for dtype, size in [("float32", 1.0), ("float16", 1.0), ("bfloat16", 1.0), ("float16", 300.0), ("float64", 1.0)]:
        (q, exact_q), (k, exact_k) = (stored(around(rng, size, 1, 2, t, 5), dtype) for t in (3, 4))
        same_pair(module(q, k), norms(exact_q, exact_k, pair), dtype=dtype, case=f"{dtype} q and k of size {size:g}")


@points(1)
@of("QKNorm")
@after("gradients-reach-x-and-the-gain", "each-side-has-its-own-gain")
def test_gradients_reach_both_gains(submission, rng):
    """Gradients reach q, k, q_gain and k_gain."""
    (q, k), (up_q, up_k), pair = drawn_pair(rng, 2, 2, 3, 5, 4), drawn_pair(rng, 2, 2, 3, 5, 4), drawn_gains(rng, 4)
    got, grads = load(submission.QKNorm(4), pair).vjp(q, k, wrt=(0, 1, "q_gain", "k_gain"), cotangent=(up_q, up_k))
    (for_q, for_q_gain), (for_k, for_k_gain) = norm_pullback(q, pair[0], up_q), norm_pullback(k, pair[1], up_k)
    same_pair(got, norms(q, k, pair), case="the result while gradients are recorded")
    same_gradients(grads, (for_q, for_k, for_q_gain, for_k_gain), NAMES)
    for dtype, tol in NARROW:
        ((q, exact_q), _, (up_q, exact_up_q)), ((k, exact_k), _, (up_k, exact_up_k)) = (drawn_triple(rng, dtype, (1, 2, t, 4)) for t in (3, 2))
        _, grads = load(submission.QKNorm(4), pair).vjp(q, k, wrt=(0, 1, "q_gain", "k_gain"), cotangent=(up_q, up_k))
        sides = norm_pullback(exact_q, pair[0], exact_up_q), norm_pullback(exact_k, pair[1], exact_up_k)
        same_gradients(grads, (sides[0][0], sides[1][0], sides[0][1], sides[1][1]), NAMES, dtype, tol)


@points(1)
@of("QKNorm")
@after("two-gains-that-start-as-ones", "each-side-has-its-own-gain")
def test_modules_are_independent(submission, rng):
    """Two modules share nothing, and a module uses the gains that it has now."""
    (q, k), first, second = drawn_pair(rng, 2, 1, 4, 2, 3), submission.QKNorm(3), submission.QKNorm(3)
    for time in ("first", "second"):
        pair = drawn_gains(rng, 3)
        same_pair(load(first, pair)(q, k), norms(q, k, pair), case=f"gains loaded a {time} time, the same q and k")
    second.train(False)
    same_pair(second(q, k), norms(q, k), case="another module, whose gains are still ones, in evaluation mode")
    for name, value in second.state().items():
        expect(value, np.ones(3), case=f"{name} of another module")


@points(1)
@of("QKNorm")
def test_a_head_dim_below_one_is_refused(submission):
    """A head_dim below 1 is a ValueError."""
    for width in (0, -1, -4):
        refuses(lambda width=width: submission.QKNorm(width), ("head_dim",), case=f"QKNorm({width})")


@points(1)
@of("QKNorm")
def test_the_module_refuses_what_does_not_fit(submission, rng):
    """q or k of another rank, another width or other heads is a ValueError."""
    for width, q_shape, k_shape in [
        (4, (4,), (4,)),
        (4, (2, 3, 4), (2, 3, 4)),
        (4, (3, 2, 4), (2, 3, 2, 4)),
        (4, (2, 3, 2, 4), (3, 2, 4)),
        (4, (1, 2, 3, 2, 4), (1, 2, 3, 2, 4)),
        (4, (2, 3, 2, 5), (2, 3, 2, 5)),
        (4, (2, 3, 2, 4), (2, 3, 2, 5)),
        (4, (2, 3, 2, 5), (2, 3, 2, 4)),
        (4, (2, 3, 2, 1), (2, 3, 2, 1)),
        (1, (2, 3, 2, 5), (2, 3, 2, 5)),
        (4, (2, 3, 2, 4), (2, 2, 2, 4)),
        (4, (2, 3, 2, 4), (2, 1, 2, 4)),
    ]:
        module, q, k = submission.QKNorm(width), rng.standard_normal(q_shape), rng.standard_normal(k_shape)
        refuses(lambda module=module, q=q, k=k: module(q, k), ANY, case=f"QKNorm({width}) on q {q_shape}, k {k_shape}")
