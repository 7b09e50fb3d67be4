"""Exercise 05, claim by claim: the norm, the module, the logits, their bound, and what saturation measures."""

import numpy as np
from attngrade.checks.claims import Result, after, claim, expect, expect_number, expect_same, number, of, points, refuses, tensor

NARROW = [("float32", 1e-3), ("float16", 0.1), ("bfloat16", 0.2)]  # how far a gradient may be off: that it is there and no other is what counts
GAINS = ("q_gain", "k_gain", "gain")
ANY = ("q", "k", "x", "head_dim", *GAINS)  # where several arguments disagree, the name of any one of them will do
NAMES = ("q", "k", "q_gain", "k_gain")


# ---------------------------------------------------------------- oracles, from the formulas


def norm(x, gain=1.0, eps=1e-6):
    return x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps) * gain


def norms(q, k, gain_pair=(1.0, 1.0), eps=1e-6):
    return norm(q, gain_pair[0], eps), norm(k, gain_pair[1], eps)


def norm_pullback(x, gain, upstream, eps=1e-6):
    """Gradients for x and for gain of sum(upstream * norm(x, gain, eps))."""
    inverse = 1 / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps)
    inner = upstream * gain
    for_x = inverse * inner - x * inverse**3 * np.mean(inner * x, axis=-1, keepdims=True)
    return for_x, (upstream * x * inverse).reshape(-1, x.shape[-1]).sum(axis=0)


def scaled_dots(q, k, gain_pair=(1.0, 1.0), eps=1e-6):
    q_hat, k_hat = norms(q, k, gain_pair, eps)
    return q_hat @ k_hat.swapaxes(-1, -2) / np.sqrt(q.shape[-1])


def least_bound(q_gain, k_gain):
    return float(np.sqrt(q_gain.size) * np.abs(q_gain * k_gain).max())


def mean_jacobian_norm(logits):
    p = np.exp(logits - logits.max(axis=-1, keepdims=True))
    p = p / p.sum(axis=-1, keepdims=True)
    jacobian = p[..., :, None] * (np.eye(p.shape[-1]) - p[..., None, :])
    return float(np.sqrt((jacobian**2).sum(axis=(-2, -1))).mean())


# ---------------------------------------------------------------- inputs and comparisons


def stored(values, dtype):
    """The argument in that dtype, and the float64 values that it really holds."""
    if dtype == "bfloat16":
        exact = (np.asarray(values, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        return tensor(exact, dtype="bfloat16"), exact.astype(np.float64)
    exact = np.asarray(values).astype(dtype)
    return exact, exact.astype(np.float64)


def drawn_gains(rng, width):
    """Two gains with both signs, none of them near 0 or 1, that float32 holds exactly."""
    signs = rng.choice([-1.0, 1.0], (2, width))
    return (signs * rng.uniform(1.25, 3.0, (2, width))).astype(np.float32).astype(np.float64)


def drawn_pair(rng, b, h, t_q, t_k, width):
    return rng.standard_normal((b, h, t_q, width)), rng.standard_normal((b, h, t_k, width))


def drawn_triple(rng, dtype, shape):
    """x, a gain and an upstream gradient in that dtype, each with the values that it really holds."""
    return (stored(values, dtype) for values in (rng.standard_normal(shape) + 0.5, drawn_gains(rng, shape[-1])[0], rng.standard_normal(shape)))


def around(rng, size, *shape):
    """Values of about one size and both signs."""
    return size * rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape)


def load(module, gain_pair):
    module.load({name: gain.astype(np.float32) for name, gain in zip(("q_gain", "k_gain"), gain_pair, strict=True)})
    return module


def same(got, want, **about):
    """``expect``, for a tensor."""
    expect(got, want, **about)
    claim(got.kind == "tensor", f"The result is a {got.kind}; a torch tensor is asked", got=got, want="tensor", case=about.get("case", ""))


def same_pair(result, wants, *, case, **about):
    """A tuple of two tensors, q_hat and k_hat."""
    for got, want, name in zip(two(result, case), wants, ("q_hat", "k_hat"), strict=True):
        same(got, want, case=f"{name}, {case}", **about)


def two(result, case):
    pair = isinstance(result, tuple) and len(result) == 2
    sort = getattr(result, "kind", type(result).__name__)
    what = f"a {sort} of {len(result)}" if isinstance(result, (tuple, list)) else f"a {sort}"
    claim(pair, f"QKNorm's forward came back with {what}; the tuple (q_hat, k_hat) is asked", got=what, want="a tuple of 2", case=case)
    return result


def same_gradients(grads, wants, names, case="", tol=None):
    for got, want, name in zip(grads, wants, names, strict=True):
        claim(got is not None, f"No gradient reaches {name}", want="a gradient", case=case)
        expect(got, want, tol=tol, scale=max(1.0, np.abs(want).max()), case=f"gradient for {name}" + (f", {case}" if case else ""))


def finite_at_zeros(grad, want, x):
    """The right gradient; for a vector of zeros, where a right norm may pass on less than its formula does, any finite one."""
    found = grad.array if isinstance(grad, Result) and grad.array.shape == want.shape else np.full(want.shape, np.nan)
    return np.where((x == 0).all(-1, keepdims=True) & np.isfinite(found), found, want)


def listed(names):
    return ", ".join(sorted(names)) or "none at all"


def same_saturation(got, logits, *, rel, case):
    want = mean_jacobian_norm(logits)
    expect_number(got, want, rel=rel, atol=1e-3 if want < 1e-3 else 0.0, case=case)


def values(got, shape, case):
    """The numbers of a tensor of that shape."""
    fits = getattr(got, "kind", "") == "tensor" and got.shape == tuple(shape)
    claim(fits, f"The result must be a tensor of shape {tuple(shape)}", got=getattr(got, "shape", type(got).__name__), want=tuple(shape), case=case)
    return got.array.astype(np.float64)


# ---------------------------------------------------------------- rms_norm


@points(1)
@of("rms_norm")
def test_each_vector_is_normalised_alone(submission, rng):
    """A vector comes out the same alone and beside others that are a thousand times larger."""
    sizes = 10.0 ** rng.permutation(np.linspace(0, 3, 24)).reshape(2, 3, 4, 1)
    x, gain = rng.standard_normal((2, 3, 4, 5)) * sizes, drawn_gains(rng, 5)[0]
    whole = values(submission.rms_norm(x, gain), x.shape, "x of shape (2, 3, 4, 5)")
    because = "A vector's mean square is its own: other tokens, heads, batch rows and earlier calls don't enter it."
    for place in [(1, 2, 3), (0, 1, 2), (1, 0, 0)]:
        same(submission.rms_norm(x[place], gain), whole[place], case=f"the vector at {place} alone and in its tensor", because=because)


@points(2)
@of("rms_norm")
def test_rms_norm_follows_the_formula(submission, rng):
    """rms_norm divides by the root of the mean square and multiplies by the gain, for any number of leading axes."""
    for shape in [(3,), (1,), (2, 5), (3, 1, 4), (2, 3, 4, 6), (2, int(rng.integers(65, 140))), (2, 1, 3, 2, 7)]:
        x, gain = rng.standard_normal(shape) + 0.5, drawn_gains(rng, shape[-1])[0]
        same(submission.rms_norm(x, gain), norm(x, gain), dtype="float64", case=f"x of shape {shape}")
    (x, exact), (gain, exact_gain) = stored(x, "float32"), stored(gain, "float32")
    same(submission.rms_norm(x=x, gain=gain), norm(exact, exact_gain), dtype="float32", case="float32, x and gain by keyword")


@points(1)
@of("rms_norm")
@after("rms-norm-follows-the-formula")
def test_eps_is_added_to_the_mean_square(submission, rng):
    """eps stands under the root, beside the mean square, and it is the eps that was asked for."""
    x, gain = rng.standard_normal((2, 5)), drawn_gains(rng, 5)[0]
    same(submission.rms_norm(x, gain, 0.5), norm(x, gain, 0.5), case="eps=0.5")
    for size in (1.0, 1e-3, 1e-4, 1e-8):
        small, case = size * x, f"x of size {size:g}"
        same(submission.rms_norm(small, gain), norm(small, gain), case=f"{case}, the default eps of 1e-6")
        same(submission.rms_norm(small, gain, eps=0.0), norm(small, gain, 0.0), case=f"{case}, eps=0")


@points(1)
@of("rms_norm")
@after("rms-norm-follows-the-formula")
def test_a_zero_vector_stays_zero(submission, rng):
    """A zero vector gives zeros, with a finite gradient."""
    gain, upstream = drawn_gains(rng, 4)[0], rng.standard_normal((3, 4))
    same(submission.rms_norm(np.zeros(4), gain), np.zeros(4), scale=1.0, case="x = (0, 0, 0, 0)")
    half, _ = stored(np.zeros((2, 4)), "float16")
    same(submission.rms_norm(half, gain.astype(np.float32), eps=1e-8), np.zeros((2, 4)), scale=1.0, case="float16 zeros, eps=1e-8")
    x = rng.standard_normal((3, 4))
    x[1] = 0
    got, grads = submission.vjp("rms_norm", x, gain, wrt=(0, 1), cotangent=upstream)
    same(got, norm(x, gain), case="a row of zeros between two others")
    for_x, for_gain = norm_pullback(x, gain, upstream)
    same_gradients(grads, (finite_at_zeros(grads[0], for_x, x), for_gain), ("x", "gain"), "a row of zeros between two others")


@points(2)
@of("rms_norm")
@after("rms-norm-follows-the-formula")
def test_half_precision_input_is_squared_in_float32(submission, rng):
    """float16 and bfloat16 inputs are squared and averaged in float32."""
    because = "In float16 the square of 300 is inf and the square of 0.001 has one digit left: square and average in float32."
    for dtype, size in [("float16", 300.0), ("float16", 1e-3), ("float16", 1e-4), ("bfloat16", 300.0), ("bfloat16", 1e-3)]:
        (x, exact), (gain, exact_gain) = stored(around(rng, size, 3, 6), dtype), stored(drawn_gains(rng, 6)[0], dtype)
        why = because if dtype == "float16" else None
        same(submission.rms_norm(x, gain), norm(exact, exact_gain), dtype=dtype, case=f"{dtype} x of size {size:g}", because=why)
    (x, exact), (gain, exact_gain) = stored(around(rng, 10.0, 2, 700), "float16"), stored(rng.uniform(0.5, 2.0, 700), "float16")
    same(submission.rms_norm(x, gain), norm(exact, exact_gain), dtype="float16", case="float16, Dh=700")


@points(1)
@of("rms_norm")
@after("rms-norm-follows-the-formula")
def test_the_dtype_of_x_comes_back(submission, rng):
    """The result has the dtype of x, whatever the dtype of the gain."""
    for x_dtype in ("float32", "float64", "float16", "bfloat16"):
        for gain_dtype in dict.fromkeys((x_dtype, "float32", "float64")):
            (x, exact), (gain, exact_gain) = stored(rng.standard_normal((2, 5)), x_dtype), stored(drawn_gains(rng, 5)[0], gain_dtype)
            same(submission.rms_norm(x, gain), norm(exact, exact_gain), dtype=x_dtype, case=f"{x_dtype} x, {gain_dtype} gain")


@points(1)
@of("rms_norm")
@after("rms-norm-follows-the-formula")
def test_gradients_reach_x_and_the_gain(submission, rng):
    """Gradients flow to x, through the norm too, and to the gain."""
    for shape, eps in [((4,), 1e-6), ((2, 3, 5), 0.3)]:
        x, gain, upstream = rng.standard_normal(shape), drawn_gains(rng, shape[-1])[0], rng.standard_normal(shape)
        got, grads = submission.vjp("rms_norm", x, gain, wrt=(0, 1), cotangent=upstream, eps=eps)
        same(got, norm(x, gain, eps), case=f"the result while gradients are recorded, x of shape {shape}")
        same_gradients(grads, norm_pullback(x, gain, upstream, eps), ("x", "gain"), f"x of shape {shape}, eps={eps:g}")
    for dtype, tol in NARROW:
        (x, exact), (gain, exact_gain), (up, exact_up) = drawn_triple(rng, dtype, (3, 6))
        got, grads = submission.vjp("rms_norm", x, gain, wrt=(0, 1), cotangent=up)
        same(got, norm(exact, exact_gain), dtype=dtype, case=f"the result while gradients are recorded, {dtype}")
        same_gradients(grads, norm_pullback(exact, exact_gain, exact_up), ("x", "gain"), dtype, tol)
    x, _ = stored(around(rng, 300.0, 2, 4), "float16")
    gain, upstream = drawn_gains(rng, 4)[0].astype(np.float32), rng.standard_normal((2, 4)).astype(np.float16)
    _, grads = submission.vjp("rms_norm", x, gain, wrt=(0, 1), cotangent=upstream)
    for got, name in zip(grads, ("x", "gain"), strict=True):
        finite = got is not None and np.isfinite(got.array).all()
        claim(finite, f"The gradient for {name} is not finite where the result is", got=got, case="float16 x of size 300")


@points(1)
@of("rms_norm")
def test_rms_norm_refuses_what_does_not_fit(submission, rng):
    """A gain that is not (Dh,), or an x without axes, is a ValueError."""
    x = rng.standard_normal((2, 3))
    for shape in [(4,), (2,), (1,), (1, 3), (2, 3), (3, 1), ()]:
        refuses(lambda shape=shape: submission.rms_norm(x, np.ones(shape)), ("gain", "x"), case=f"x (2, 3), gain {shape}")
    for shape in [(), (1,), (3,)]:
        refuses(lambda shape=shape: submission.rms_norm(np.array(2.0), np.ones(shape)), ("x", "gain"), case=f"x of rank 0, gain {shape}")


# ---------------------------------------------------------------- QKNorm


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
    for sizes in [(1, 1, 1, 1, 1), (1, 1, 2, 1, 3), (2, 3, 4, 5, 6)]:
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
    same_pair(second(q, k), norms(q, k), case="another module, whose gains are still ones")
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


# ---------------------------------------------------------------- qk_norm_logits


@points(2)
@of("qk_norm_logits")
@after("rms-norm-follows-the-formula")
def test_logits_are_scaled_dot_products_of_normed_vectors(submission, rng):
    """logits[b, h, i, j] is q_hat of query i times k_hat of key j, divided by sqrt(Dh)."""
    for sizes in [(1, 1, 1, 1, 1), (1, 1, 2, 3, 2), (2, 3, 4, 5, 6), (1, 9, 2, 2, int(rng.integers(65, 140))), (3, 2, 6, 4, 5)]:
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
        q_hat, k_hat = norms(q, k, pair)
        for_q, for_q_gain = norm_pullback(q, pair[0], upstream @ k_hat / np.sqrt(5))
        for_k, for_k_gain = norm_pullback(k, pair[1], upstream.swapaxes(-1, -2) @ q_hat / np.sqrt(5))
        got, grads = submission.vjp("qk_norm_logits", q, k, *pair, wrt=(0, 1, 2, 3), cotangent=upstream)
        same(got, scaled_dots(q, k, pair), case=f"the result while gradients are recorded, {case}")
        same_gradients(grads, (finite_at_zeros(grads[0], for_q, q), for_k, for_q_gain, for_k_gain), NAMES, case)
        for dtype, tol in NARROW:
            narrow = [tensor(x, dtype) for x in (q, k, *pair)]
            _, rough = submission.vjp("qk_norm_logits", *narrow, wrt=(0, 1, 2, 3), cotangent=tensor(upstream, dtype))
            same_gradients(rough, (finite_at_zeros(rough[0], for_q, q), for_k, for_q_gain, for_k_gain), NAMES, f"{case}, {dtype}", tol)
        q[0, 1, 2] = 0


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


# ---------------------------------------------------------------- logit_bound


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
    for width, dtype, rel in [(7, "float64", 1e-6), (10, "float32", 2e-5), (6, "float16", 4e-3), (11, "bfloat16", 3e-2),
                              (int(rng.integers(65, 140)), "float64", 1e-6)]:
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


# ---------------------------------------------------------------- saturation


@points(2)
@of("saturation")
def test_saturation_is_the_mean_jacobian_norm(submission, rng):
    """Saturation is the Frobenius norm of each row's softmax Jacobian, averaged over all rows."""
    for shape in [(2,), (4,), (1, 3), (3, 4), (5, 2), (3, 1), (2, 3, 5), (2, 3, 4, 6), (2, 1, 3, 2, 4)]:
        logits = rng.uniform(-1.5, 1.5, shape) * (rng.uniform(0.1, 1.0, (*shape[:-1], 1)) if len(shape) > 1 else 1.0)
        same_saturation(submission.saturation(logits), logits, rel=1e-9, case=f"logits of shape {shape}")


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


# ---------------------------------------------------------------- all five


@points(1)
@of("rms_norm", "QKNorm", "qk_norm_logits")
@after("rms-norm-follows-the-formula", "each-side-has-its-own-gain", "logits-are-scaled-dot-products-of-normed-vectors")
def test_values_count_and_not_their_place_in_memory(submission, rng):
    """Transposed and strided inputs give what a contiguous copy gives."""
    (q, k), pair = drawn_pair(rng, 2, 3, 4, 6, 5), drawn_gains(rng, 5)
    module = load(submission.QKNorm(5), pair)
    for layout in [{"order": (0, 2, 1, 3)}, {"gap": 3, "guard": 4}, {"order": (0, 1, 3, 2)}, {"order": (3, 1, 0, 2)}]:
        (q_view, k_view), case = (tensor(x, **layout) for x in (q, k)), ", ".join(f"{name}={value}" for name, value in layout.items())
        same(submission.rms_norm(q_view, pair[0]), norm(q, pair[0]), case=f"rms_norm, memory {case}")
        same_pair(module(q_view, k_view), norms(q, k, pair), case=f"QKNorm, memory {case}")
        same(submission.qk_norm_logits(q_view, k_view, *pair), scaled_dots(q, k, pair), case=f"qk_norm_logits, memory {case}")


@points(2)
@of("rms_norm", "QKNorm", "qk_norm_logits", "logit_bound", "saturation")
def test_nothing_outside_the_result_changes(submission, rng):
    """Arguments, random generators and global settings stay as they were."""
    (q, k), pair = drawn_pair(rng, 2, 3, 4, 6, 5), drawn_gains(rng, 5)
    singles = [part.astype(np.float32) for part in (q, k, *pair)]
    submission.rms_norm(q, pair[0])
    submission.rms_norm(singles[0], singles[2])
    submission.rms_norm(q.astype(np.float16), singles[2])
    submission.QKNorm(5)(q, k)
    submission.qk_norm_logits(q, k, *pair)
    submission.qk_norm_logits(*singles)
    submission.logit_bound(*pair)
    submission.saturation(k)
    submission.saturation(singles[1])
    for call in submission.calls:  # those of the other checks as well
        changed, touched = ", ".join(call.mutated), ", ".join(call.touched)
        claim(not changed, f"Your {call.function} changed its argument {changed} in place: work on a copy", got=f"changed: {changed}")
        claim(not touched, f"Your {call.function} changed global state ({touched}): leave it as it was", got=f"changed: {touched}")


@points(1)
@of("rms_norm", "QKNorm", "qk_norm_logits")
@after("rms-norm-follows-the-formula", "each-side-has-its-own-gain", "logits-are-scaled-dot-products-of-normed-vectors")
def test_earlier_calls_leave_no_trace(submission, rng):
    """A result stays what it is after later calls, and a call forgets the earlier ones."""
    first, second, pair, module = drawn_pair(rng, 1, 3, 2, 2, 7), drawn_pair(rng, 1, 3, 2, 2, 7), drawn_gains(rng, 7), submission.QKNorm(7)
    for name, call in {
        "rms_norm": lambda q, k, **options: submission.rms_norm(q, pair[0], **options),
        "QKNorm": lambda q, k, **options: module(q, k, **options),
        "qk_norm_logits": lambda q, k, **options: submission.qk_norm_logits(q, k, *pair, **options),
    }.items():
        kept = call(*first, _keep=True)
        call(*second)
        because = "A later call wrote into the result of an earlier one: each result needs memory of its own."
        for now, then in zip(each(submission.reread(kept)), each(kept), strict=True):
            expect_same(now, then, case=f"{name}: the first result after a second call", because=because)
        submission.scribble(kept)
        because = "It is tensors that are remembered, and not what is in them: their caller had changed them in place."
        before = (*(2 * x for x in second), *pair) if name == "qk_norm_logits" else (2 * second[0], pair[0]) if name == "rms_norm" else tuple(2 * x for x in second)
        for now, then in zip(each(call(*first, _before=before)), each(kept), strict=True):
            same(now, then.array, case=f"{name}: the same tensors with new values", because=because)
        because = "The same call gave another result: something is kept from earlier calls, or handed out twice."
        for now, then in zip(each(call(*first)), each(kept), strict=True):
            same(now, then.array, case=f"{name}: the first call once more, its result overwritten by the caller", because=because)


def each(result):
    return result if isinstance(result, tuple) else (result,)
