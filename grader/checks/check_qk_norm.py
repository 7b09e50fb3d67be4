"""Exercise 05, claim by claim."""

import numpy as np

from attngrade.checks.claims import after, claim, expect, expect_number, expect_same, number, of, points, refuses, tensor

PAIR = ("q", "k")
GAINS = ("q_gain", "k_gain", "gain")
ANY = (*PAIR, *GAINS, "x", "head_dim")  # where several arguments disagree, the name of any of them will do
FUNCTIONS = ("rms_norm", "QKNorm", "qk_norm_logits", "logit_bound", "saturation")


# ---------------------------------------------------------------- oracles, from the formulas


def oracle_norm(x, gain, eps=1e-6):
    return x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps) * gain


def oracle_norm_pullback(x, gain, upstream, eps=1e-6):
    """Gradients for x and for gain of sum(upstream * oracle_norm(x, gain, eps))."""
    inverse = 1 / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps)
    inner = upstream * gain
    for_x = inverse * inner - x * inverse**3 * np.mean(inner * x, axis=-1, keepdims=True)
    return for_x, (upstream * x * inverse).reshape(-1, x.shape[-1]).sum(axis=0)


def oracle_logits(q, k, q_gain, k_gain, eps=1e-6):
    return oracle_norm(q, q_gain, eps) @ oracle_norm(k, k_gain, eps).swapaxes(-1, -2) / np.sqrt(q.shape[-1])


def oracle_saturation(logits):
    p = np.exp(logits - logits.max(axis=-1, keepdims=True))
    p = p / p.sum(axis=-1, keepdims=True)
    jacobian = p[..., :, None] * (np.eye(p.shape[-1]) - p[..., None, :])
    return float(np.sqrt((jacobian**2).sum(axis=(-2, -1))).mean())


def oracle_bound(q_gain, k_gain):
    return float(np.sqrt(q_gain.size) * np.abs(q_gain * k_gain).max())


# ---------------------------------------------------------------- inputs


def stored(values, dtype):
    """The argument in that dtype, and the float64 values that it really holds."""
    if dtype == "bfloat16":
        exact = (values.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        return tensor(exact, dtype="bfloat16"), exact.astype(np.float64)
    exact = np.asarray(values).astype(dtype)
    return exact, exact.astype(np.float64)


def gains(rng, width):
    """Two gains with both signs, none of them near 0 or 1, as float32 values."""
    draw = rng.uniform(1.25, 3.0, (2, width)) * rng.choice([-1.0, 1.0], (2, width))
    return draw.astype(np.float32).astype(np.float64)


def loaded(submission, gain_pair, **options):
    module = submission.QKNorm(gain_pair.shape[-1], **options)
    module.load({"q_gain": gain_pair[0].astype(np.float32), "k_gain": gain_pair[1].astype(np.float32)})
    return module


def two_results(result, case):
    claim(
        isinstance(result, tuple) and len(result) == 2,
        "QKNorm's forward must return a tuple of two tensors, (q_hat, k_hat)",
        got=result if isinstance(result, (list, tuple)) else type(result).__name__,
        want="(q_hat, k_hat)",
        case=case,
    )
    return result


def expect_pair(result, want_q, want_k, *, dtype, case, because=None):
    q_hat, k_hat = two_results(result, case)
    expect(q_hat, want_q, dtype=dtype, case=f"{case}: q_hat", because=because)
    expect(k_hat, want_k, dtype=dtype, case=f"{case}: k_hat", because=because)


def expect_saturation(got, want, *, rel, case):
    expect_number(got, want, rel=rel, atol=1e-3 if want < 1e-3 else 0.0, case=case)


# ---------------------------------------------------------------- rms_norm


@points(2)
@of("rms_norm")
def test_rms_norm_follows_the_formula(submission, rng):
    """rms_norm divides by the root of the mean square and multiplies by the gain, for any number of leading axes."""
    for shape in [(3,), (1,), (2, 5), (3, 1, 4), (2, 3, 4, 6), (2, 1, 3, 2, 7)]:
        x, gain = rng.standard_normal(shape) + 0.5, gains(rng, shape[-1])[0]
        expect(submission.rms_norm(x, gain), oracle_norm(x, gain), dtype="float64", case=f"x of shape {shape}, float64")
    x, gain = rng.standard_normal((2, 3, 5)).astype(np.float32), gains(rng, 5)[1].astype(np.float32)
    expect(submission.rms_norm(x=x, gain=gain), oracle_norm(x.astype(float), gain.astype(float)), dtype="float32", case="float32, by keyword")


@points(1)
@of("rms_norm")
@after("rms-norm-follows-the-formula")
def test_each_vector_is_normalised_alone(submission, rng):
    """A vector comes out the same alone and beside others that are a thousand times larger."""
    sizes = 10.0 ** rng.permutation(np.linspace(0, 3, 2 * 3 * 4)).reshape(2, 3, 4, 1)
    x, gain = rng.standard_normal((2, 3, 4, 5)) * sizes, gains(rng, 5)[0]
    whole = submission.rms_norm(x, gain)
    for place in [(1, 2, 3), (0, 1, 2), (1, 0, 0)]:
        alone = submission.rms_norm(x[place], gain)
        expect(alone, oracle_norm(x[place], gain), case=f"the vector at {place} alone")
    because = "The mean runs over the Dh numbers of one vector: other tokens, heads and batch rows must not enter it."
    expect(whole, oracle_norm(x, gain), dtype="float64", case="vectors of sizes 1 to 1000 in one (2, 3, 4, 5) tensor", because=because)


@points(1)
@of("rms_norm")
@after("rms-norm-follows-the-formula")
def test_eps_is_added_to_the_mean_square(submission, rng):
    """eps stands under the root, beside the mean square, and it is the eps that was asked for."""
    gain = gains(rng, 5)[0]
    x = rng.standard_normal((2, 5))
    expect(submission.rms_norm(x, gain, 0.5), oracle_norm(x, gain, 0.5), case="eps=0.5")
    expect(submission.rms_norm(x, gain, eps=0.0), oracle_norm(x, gain, 0.0), case="eps=0")
    for size in (1e-3, 1e-4):
        small = size * x
        expect(submission.rms_norm(small, gain), oracle_norm(small, gain), case=f"x of size {size}, the default eps of 1e-6")
        expect(submission.rms_norm(small, gain, eps=0.0), oracle_norm(small, gain, 0.0), case=f"x of size {size}, eps=0")


@points(1)
@of("rms_norm")
@after("rms-norm-follows-the-formula")
def test_a_zero_vector_stays_zero(submission, rng):
    """A zero vector gives zeros, with a finite gradient."""
    gain = gains(rng, 4)[0]
    expect(submission.rms_norm(np.zeros(4), gain), np.zeros(4), scale=1.0, dtype="float64", case="x = (0, 0, 0, 0)")
    x, upstream = rng.standard_normal((3, 4)), rng.standard_normal((3, 4))
    x[1] = 0
    got, grads = submission.vjp("rms_norm", x, gain, wrt=(0, 1), cotangent=upstream)
    expect(got, oracle_norm(x, gain), case="a zero row between two others")
    for_x, for_gain = oracle_norm_pullback(x, gain, upstream)
    expect(grads[0], for_x, case="gradient for x, a zero row between two others", because="At x = 0 the gradient is gain / sqrt(eps): finite.")
    expect(grads[1], for_gain, case="gradient for gain, a zero row between two others")
    half, _ = stored(np.zeros((2, 4)), "float16")
    expect(submission.rms_norm(half, gain.astype(np.float32), eps=1e-8), np.zeros((2, 4)), scale=1.0, case="float16 zeros, eps=1e-8")


@points(2)
@of("rms_norm")
@after("rms-norm-follows-the-formula")
def test_half_precision_input_is_squared_in_float32(submission, rng):
    """float16 and bfloat16 inputs are squared and averaged in float32."""
    for dtype, size in [("float16", 300.0), ("float16", 1e-3), ("float16", 1e-4), ("bfloat16", 300.0), ("bfloat16", 1e-3)]:
        x, exact = stored(size * rng.uniform(0.9, 1.1, (3, 6)) * rng.choice([-1, 1], (3, 6)), dtype)
        gain, exact_gain = stored(gains(rng, 6)[0], dtype)
        because = "300 squared is past the largest float16, and 0.001 squared is next to its smallest: square in float32."
        want = oracle_norm(exact, exact_gain)
        expect(submission.rms_norm(x, gain), want, tol=None, case=f"{dtype} x of size {size:g}", because=because if dtype == "float16" else None)
    width = 700
    x, exact = stored(rng.uniform(5.0, 15.0, (2, width)), "float16")
    gain, exact_gain = stored(rng.uniform(0.5, 2.0, width), "float16")
    expect(submission.rms_norm(x, gain), oracle_norm(exact, exact_gain), case=f"float16, Dh={width}")


@points(1)
@of("rms_norm")
@after("rms-norm-follows-the-formula")
def test_the_dtype_of_x_comes_back(submission, rng):
    """The result has the dtype of x, whatever the dtype of the gain."""
    pairs = [("float32", "float32"), ("float64", "float32"), ("float16", "float16"), ("float16", "float32")]
    for x_dtype, gain_dtype in [*pairs, ("bfloat16", "bfloat16"), ("bfloat16", "float32"), ("float32", "float64")]:
        x, exact = stored(rng.standard_normal((2, 5)), x_dtype)
        gain, exact_gain = stored(gains(rng, 5)[0], gain_dtype)
        expect(submission.rms_norm(x, gain), oracle_norm(exact, exact_gain), dtype=x_dtype, case=f"{x_dtype} x, {gain_dtype} gain")


@points(1)
@of("rms_norm")
@after("rms-norm-follows-the-formula")
def test_gradients_reach_x_and_the_gain(submission, rng):
    """Gradients flow to x, through the norm too, and to the gain."""
    for shape, eps in [((4,), 1e-6), ((2, 3, 5), 0.3)]:
        x, gain, upstream = rng.standard_normal(shape), gains(rng, shape[-1])[0], rng.standard_normal(shape)
        _, grads = submission.vjp("rms_norm", x, gain, wrt=(0, 1), cotangent=upstream, eps=eps)
        for_x, for_gain = oracle_norm_pullback(x, gain, upstream, eps)
        expect(grads[0], for_x, scale=np.abs(upstream).max(), case=f"gradient for x of shape {shape}, eps={eps:g}")
        expect(grads[1], for_gain, case=f"gradient for gain, x of shape {shape}, eps={eps:g}")
    x, _ = stored(300.0 * rng.choice([-1, 1], (2, 4)), "float16")
    gain, upstream = gains(rng, 4)[0].astype(np.float32), rng.standard_normal((2, 4)).astype(np.float16)
    _, grads = submission.vjp("rms_norm", x, gain, wrt=(0, 1), cotangent=upstream)
    claim(all(np.isfinite(grad.array).all() for grad in grads), "the gradients of a finite result must be finite", case="float16 x of size 300")


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
    for width in (1, 3, 10):
        module = submission.QKNorm(width)
        parameters, state = module.parameters(), module.state()
        case = f"QKNorm({width})"
        claim(set(parameters) == {"q_gain", "k_gain"}, "the parameters must be q_gain and k_gain", got=sorted(parameters), case=case)
        claim(set(state) == {"q_gain", "k_gain"}, "the state dict must hold q_gain and k_gain and nothing else", got=sorted(state), case=case)
        for name in ("q_gain", "k_gain"):
            expect(parameters[name], np.ones(width), case=f"{case}: {name} at the start")
            claim(parameters[name].requires_grad, f"{name} must be trainable (requires_grad)", got=False, want=True, case=case)


@points(2)
@of("QKNorm")
@after("rms-norm-follows-the-formula", "two-gains-that-start-as-ones")
def test_each_side_has_its_own_gain(submission, rng):
    """Queries are normalised with q_gain, keys with k_gain, and T_q and T_k may differ."""
    for batch, heads, t_q, t_k, width in [(1, 1, 1, 1, 1), (1, 1, 2, 1, 3), (2, 3, 4, 5, 6)]:
        q, k = rng.standard_normal((batch, heads, t_q, width)), rng.standard_normal((batch, heads, t_k, width))
        case = f"q {q.shape}, k {k.shape}"
        expect_pair(submission.QKNorm(width)(q, k), oracle_norm(q, 1.0), oracle_norm(k, 1.0), dtype="float64", case=f"{case}, gains of one")
        pair = gains(rng, width)
        module = loaded(submission, pair)
        expect_pair(module(q, k), oracle_norm(q, pair[0]), oracle_norm(k, pair[1]), dtype="float64", case=f"{case}, other gains")
    expect_pair(module(k=k, q=q), oracle_norm(q, pair[0]), oracle_norm(k, pair[1]), dtype="float64", case="q and k by keyword")


@points(1)
@of("QKNorm")
@after("rms-norm-follows-the-formula", "each-side-has-its-own-gain")
def test_only_dh_is_normalised(submission, rng):
    """Heads, tokens and batch rows of very different size do not touch each other."""
    pair = gains(rng, 6)
    q, k = rng.standard_normal((2, 3, 4, 6)), rng.standard_normal((2, 3, 5, 6))
    q, k = q * np.array([1.0, 100.0, 1000.0])[:, None, None], k * 10.0 ** np.arange(5)[:, None]
    because = "Each (b, h, t) is normalised over its own Dh numbers, whatever stands in the other heads and tokens."
    result = loaded(submission, pair)(q, k)
    expect_pair(result, oracle_norm(q, pair[0]), oracle_norm(k, pair[1]), dtype="float64", case="heads of sizes 1, 100, 1000", because=because)


@points(1)
@of("QKNorm")
@after("eps-is-added-to-the-mean-square", "each-side-has-its-own-gain")
def test_the_module_uses_its_eps(submission, rng):
    """The eps given to QKNorm reaches both norms, and it is 1e-6 when none is given."""
    q, k = rng.standard_normal((2, 2, 3, 5)), rng.standard_normal((2, 2, 4, 5))
    makers = {"eps=0.5": lambda: submission.QKNorm(5, 0.5), "eps=0": lambda: submission.QKNorm(head_dim=5, eps=0.0)}
    for (case, make), eps in zip(makers.items(), (0.5, 0.0), strict=True):
        expect_pair(make()(q, k), oracle_norm(q, 1.0, eps), oracle_norm(k, 1.0, eps), dtype="float64", case=case)
    q, k = 1e-3 * q, 1e-3 * k
    expect_pair(submission.QKNorm(5)(q, k), oracle_norm(q, 1.0), oracle_norm(k, 1.0), dtype="float64", case="q and k of size 0.001, the default eps")


@points(1)
@of("QKNorm")
@after("rms-norm-follows-the-formula", "the-dtype-of-x-comes-back", "half-precision-input-is-squared-in-float32", "each-side-has-its-own-gain")
def test_float32_gains_leave_the_dtype_alone(submission, rng):
    """The module's gains are float32; q_hat and k_hat still have the dtype of q and k."""
    pair = gains(rng, 5)
    module = loaded(submission, pair)
    for dtype, size in [("float32", 1.0), ("float16", 1.0), ("bfloat16", 1.0), ("float16", 300.0), ("float64", 1.0)]:
        q, exact_q = stored(size * rng.uniform(0.5, 1.5, (1, 2, 3, 5)), dtype)
        k, exact_k = stored(size * rng.uniform(0.5, 1.5, (1, 2, 4, 5)), dtype)
        want = oracle_norm(exact_q, pair[0]), oracle_norm(exact_k, pair[1])
        expect_pair(module(q, k), *want, dtype=dtype, case=f"{dtype} q and k of size {size:g}")


@points(1)
@of("QKNorm")
@after("rms-norm-follows-the-formula", "gradients-reach-x-and-the-gain", "each-side-has-its-own-gain")
def test_gradients_reach_both_gains(submission, rng):
    """Gradients reach q, k, q_gain and k_gain."""
    pair = gains(rng, 4)
    q, k = rng.standard_normal((2, 2, 3, 4)), rng.standard_normal((2, 2, 5, 4))
    up_q, up_k = rng.standard_normal(q.shape), rng.standard_normal(k.shape)
    _, grads = loaded(submission, pair).vjp(q, k, wrt=(0, 1, "q_gain", "k_gain"), cotangent=(up_q, up_k))
    for_q, for_q_gain = oracle_norm_pullback(q, pair[0], up_q)
    for_k, for_k_gain = oracle_norm_pullback(k, pair[1], up_k)
    for got, want, name in zip(grads, (for_q, for_k, for_q_gain, for_k_gain), ("q", "k", "q_gain", "k_gain"), strict=True):
        expect(got, want, case=f"gradient for {name}")


@points(1)
@of("QKNorm")
@after("two-gains-that-start-as-ones", "each-side-has-its-own-gain")
def test_modules_are_independent(submission, rng):
    """Two modules share nothing, and a module uses the gains that it has now."""
    first, second = submission.QKNorm(3), submission.QKNorm(3)
    q, k = rng.standard_normal((2, 1, 4, 3)), rng.standard_normal((2, 1, 2, 3))
    for _ in range(2):
        pair = gains(rng, 3)
        first.load({"q_gain": pair[0].astype(np.float32), "k_gain": pair[1].astype(np.float32)})
        expect_pair(first(q, k), oracle_norm(q, pair[0]), oracle_norm(k, pair[1]), dtype="float64", case="new gains loaded, the same q and k")
    expect_pair(second(q, k), oracle_norm(q, 1.0), oracle_norm(k, 1.0), dtype="float64", case="the other module, untouched")
    for name, value in second.state().items():
        expect(value, np.ones(3), case=f"{name} of the other module")


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
    cases = [
        (4, (2, 3, 4), (2, 3, 4)),
        (4, (3, 2, 4), (2, 3, 2, 4)),
        (4, (2, 3, 2, 4), (3, 2, 4)),
        (4, (1, 2, 3, 2, 4), (1, 2, 3, 2, 4)),
        (4, (4,), (4,)),
        (4, (2, 3, 2, 5), (2, 3, 2, 5)),
        (4, (2, 3, 2, 4), (2, 3, 2, 5)),
        (4, (2, 3, 2, 1), (2, 3, 2, 1)),
        (1, (2, 3, 2, 5), (2, 3, 2, 5)),
        (4, (2, 3, 2, 4), (2, 2, 2, 4)),
        (4, (2, 3, 2, 4), (2, 1, 2, 4)),
    ]
    for width, q_shape, k_shape in cases:
        module = submission.QKNorm(width)
        q, k = rng.standard_normal(q_shape), rng.standard_normal(k_shape)
        refuses(lambda module=module, q=q, k=k: module(q, k), ANY, case=f"QKNorm({width}) on q {q_shape}, k {k_shape}")


# ---------------------------------------------------------------- qk_norm_logits


@points(2)
@of("qk_norm_logits")
@after("rms-norm-follows-the-formula")
def test_logits_are_scaled_dot_products_of_normed_vectors(submission, rng):
    """logits[b, h, i, j] is q_hat of query i times k_hat of key j, divided by sqrt(Dh)."""
    for batch, heads, t_q, t_k, width in [(1, 1, 1, 1, 1), (1, 1, 2, 3, 2), (2, 3, 4, 5, 6), (3, 2, 6, 4, 5)]:
        q, k = rng.standard_normal((batch, heads, t_q, width)), rng.standard_normal((batch, heads, t_k, width))
        ones, pair = np.ones(width), gains(rng, width)
        case = f"q {q.shape}, k {k.shape}"
        expect(submission.qk_norm_logits(q, k, ones, ones), oracle_logits(q, k, ones, ones), dtype="float64", case=f"{case}, gains of one")
        expect(submission.qk_norm_logits(q, k, *pair), oracle_logits(q, k, *pair), dtype="float64", case=f"{case}, other gains")
    keywords = {"q": q, "k": k, "q_gain": pair[0], "k_gain": pair[1]}
    expect(submission.qk_norm_logits(**keywords), oracle_logits(q, k, *pair), dtype="float64", case="all by keyword")


@points(1)
@of("qk_norm_logits")
@after("logits-are-scaled-dot-products-of-normed-vectors")
def test_larger_weights_change_no_logit(submission, rng):
    """Queries and keys a thousand times larger give the same logits, within logit_bound's sqrt(Dh)."""
    q, k, ones = rng.standard_normal((2, 3, 4, 7)), rng.standard_normal((2, 3, 5, 7)), np.ones(7)
    for size in (1.0, 1e3, 1e6):
        want = oracle_logits(size * q, size * k, ones, ones)
        because = "The norm takes the size out of q and k, each vector by itself, so larger weights must not show in the logits."
        expect(submission.qk_norm_logits(size * q, size * k, ones, ones), want, case=f"q and k of size {size:g}", because=because)
    sizes = 10.0 ** np.array([0, 1, 2])[:, None, None]
    want = oracle_logits(q * sizes, k * sizes[::-1], ones, ones)
    expect(submission.qk_norm_logits(q * sizes, k * sizes[::-1], ones, ones), want, case="heads of sizes 1, 10, 100")


@points(1)
@of("qk_norm_logits")
@after("eps-is-added-to-the-mean-square", "logits-are-scaled-dot-products-of-normed-vectors")
def test_logits_use_eps_in_both_norms(submission, rng):
    """eps reaches both norms of the logits, and it is 1e-6 when none is given."""
    q, k, pair = rng.standard_normal((1, 2, 3, 5)), rng.standard_normal((1, 2, 4, 5)), gains(rng, 5)
    expect(submission.qk_norm_logits(q, k, *pair, 0.5), oracle_logits(q, k, *pair, 0.5), case="eps=0.5")
    expect(submission.qk_norm_logits(q, k, *pair, eps=0.0), oracle_logits(q, k, *pair, 0.0), case="eps=0")
    expect(submission.qk_norm_logits(1e-3 * q, 1e-3 * k, *pair), oracle_logits(1e-3 * q, 1e-3 * k, *pair), case="size 0.001, the default eps")
    zero = np.zeros_like(q)
    expect(submission.qk_norm_logits(zero, k, *pair), np.zeros((1, 2, 3, 4)), scale=1.0, case="q = 0")


@points(2)
@of("qk_norm_logits")
@after("logits-are-scaled-dot-products-of-normed-vectors", "half-precision-input-is-squared-in-float32")
def test_logits_of_half_precision_input(submission, rng):
    """Norms and dot products of float16 and bfloat16 input run in float32, and the dtype of q and k comes back."""
    for dtype, gain_dtype, size in [
        ("float32", "float32", 1.0),
        ("float16", "float16", 1.0),
        ("float16", "float32", 300.0),
        ("float16", "float16", 1e-3),
        ("bfloat16", "float32", 300.0),
        ("bfloat16", "bfloat16", 1.0),
        ("float64", "float32", 1.0),
    ]:
        q, exact_q = stored(size * rng.uniform(0.5, 1.5, (2, 2, 3, 5)), dtype)
        k, exact_k = stored(size * rng.uniform(0.5, 1.5, (2, 2, 4, 5)), dtype)
        held = [stored(np.abs(gain), gain_dtype) for gain in gains(rng, 5)]
        got = submission.qk_norm_logits(q, k, held[0][0], held[1][0])
        want = oracle_logits(exact_q, exact_k, held[0][1], held[1][1])
        expect(got, want, dtype=dtype, case=f"{dtype} q and k of size {size:g}, {gain_dtype} gains")
    q, exact_q = stored(rng.uniform(0.5, 1.5, (1, 1, 2, 48)), "float16")
    gain = np.full(48, 45.0)
    because = "48 * 45 * 45 is past the largest float16, the logit itself is not: add up and scale in float32, then cast back."
    got = submission.qk_norm_logits(q, q, gain.astype(np.float16), gain.astype(np.float16))
    expect(got, oracle_logits(exact_q, exact_q, gain, gain), dtype="float16", case="float16, Dh=48, gains of 45", because=because)


@points(1)
@of("qk_norm_logits")
@after("gradients-reach-x-and-the-gain", "logits-are-scaled-dot-products-of-normed-vectors")
def test_gradients_flow_through_the_logits(submission, rng):
    """Gradients flow from the logits to q, k and both gains."""
    q, k, pair = rng.standard_normal((2, 2, 3, 5)), rng.standard_normal((2, 2, 4, 5)), gains(rng, 5)
    q[0, 1, 2] = 0
    upstream = rng.standard_normal((2, 2, 3, 4))
    _, grads = submission.vjp("qk_norm_logits", q, k, *pair, wrt=(0, 1, 2, 3), cotangent=upstream)
    for_q, for_q_gain = oracle_norm_pullback(q, pair[0], upstream @ oracle_norm(k, pair[1]) / np.sqrt(5))
    for_k, for_k_gain = oracle_norm_pullback(k, pair[1], upstream.swapaxes(-1, -2) @ oracle_norm(q, pair[0]) / np.sqrt(5))
    for got, want, name in zip(grads, (for_q, for_k, for_q_gain, for_k_gain), ("q", "k", "q_gain", "k_gain"), strict=True):
        expect(got, want, case=f"gradient for {name}")


@points(1)
@of("qk_norm_logits")
def test_logits_refuse_what_does_not_fit(submission, rng):
    """Ranks, widths, heads or gains that don't fit are a ValueError."""
    for q_shape, k_shape, q_gain, k_gain in [
        ((2, 4), (2, 4), (4,), (4,)),
        ((2, 3, 4), (2, 3, 4), (4,), (4,)),
        ((1, 2, 3, 2, 4), (1, 2, 3, 2, 4), (4,), (4,)),
        ((2, 3, 2, 4), (3, 2, 4), (4,), (4,)),
        ((3, 2, 4), (2, 3, 2, 4), (4,), (4,)),
        ((2, 3, 2, 4), (2, 3, 2, 5), (4,), (5,)),
        ((2, 3, 2, 4), (2, 3, 2, 1), (4,), (1,)),
        ((2, 3, 2, 4), (2, 2, 2, 4), (4,), (4,)),
        ((2, 3, 2, 4), (2, 1, 2, 4), (4,), (4,)),
        ((2, 1, 2, 4), (2, 3, 2, 4), (4,), (4,)),
        ((2, 3, 2, 4), (2, 3, 5, 4), (3,), (4,)),
        ((2, 3, 2, 4), (2, 3, 5, 4), (4,), (5,)),
        ((2, 3, 2, 4), (2, 3, 5, 4), (1,), (4,)),
        ((2, 3, 2, 4), (2, 3, 5, 4), (4,), (1,)),
        ((2, 3, 2, 4), (2, 3, 5, 4), (3, 1, 4), (3, 1, 4)),
        ((2, 3, 2, 4), (2, 3, 5, 4), (), (4,)),
    ]:
        args = [rng.standard_normal(shape) for shape in (q_shape, k_shape, q_gain, k_gain)]
        case = f"q {q_shape}, k {k_shape}, q_gain {q_gain}, k_gain {k_gain}"
        refuses(lambda args=args: submission.qk_norm_logits(*args), ANY, case=case)


# ---------------------------------------------------------------- logit_bound


def expect_bound(got, least, *, rel, case):
    bound = number(got)
    slack = rel * least
    claim(np.isfinite(bound), "the bound must be a finite number", got=bound, want=least, case=case)
    claim(bound >= least - slack, "some q and k give a larger logit than this bound allows", got=bound, want=least, case=case)
    claim(bound <= least / 0.99 + slack, "no q and k come near this bound: it is not the least one", got=bound, want=least, case=case)


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
        expect_bound(submission.logit_bound(np.array(q_gain), np.array(k_gain)), oracle_bound(np.array(q_gain), np.array(k_gain)), rel=1e-6, case=case)
    for width, dtype, rel in [(7, "float64", 1e-6), (10, "float32", 2e-5), (6, "float16", 4e-3), (11, "bfloat16", 3e-2)]:
        for size in (1.0, 0.01):
            (q_gain, exact_q), (k_gain, exact_k) = (stored(size * rng.standard_normal(width), dtype) for _ in range(2))
            got = submission.logit_bound(q_gain=q_gain, k_gain=k_gain)
            expect_bound(got, oracle_bound(exact_q, exact_k), rel=rel, case=f"random {dtype} gains of size {size:g}, Dh={width}")


@points(1)
@of("logit_bound")
def test_the_bound_refuses_gains_that_do_not_fit(submission):
    """Gains that are not two vectors of the same length are a ValueError."""
    for q_shape, k_shape in [((3,), (4,)), ((3,), (1,)), ((1,), (3,)), ((2, 3), (2, 3)), ((3,), (1, 3)), ((1, 3), (3,)), ((), ()), ((3,), ())]:
        case = f"q_gain {q_shape}, k_gain {k_shape}"
        refuses(lambda q=q_shape, k=k_shape: submission.logit_bound(np.ones(q), np.ones(k)), GAINS, case=case)


# ---------------------------------------------------------------- saturation


@points(2)
@of("saturation")
def test_saturation_is_the_mean_jacobian_norm(submission, rng):
    """Saturation is the Frobenius norm of each row's softmax Jacobian, averaged over all rows."""
    for shape in [(2,), (4,), (1, 3), (3, 4), (5, 2), (2, 3, 5), (2, 3, 4, 6), (2, 1, 3, 2, 4), (3, 1)]:
        logits = rng.uniform(-1.5, 1.5, shape)
        if len(shape) > 1:
            logits *= rng.uniform(0.1, 1.0, (*shape[:-1], 1))
        expect_saturation(submission.saturation(logits), oracle_saturation(logits), rel=1e-9, case=f"logits of shape {shape}")


@points(1)
@of("saturation")
@after("saturation-is-the-mean-jacobian-norm")
def test_saturated_rows_count_as_zero(submission, rng):
    """A one-hot row counts as 0 beside the others, however large its logits are."""
    soft = rng.uniform(-1, 1, (2, 3, 5))
    shifted = soft + np.array([-800.0, 0.0, 900.0])[:, None]
    expect_saturation(submission.saturation(shifted), oracle_saturation(shifted), rel=1e-9, case="rows around -800, 0 and 900")
    hard = soft.copy()
    hard[0, 1] = 1e5 * np.arange(5)
    hard[1, 2] = -1e4 * np.arange(5)
    expect_saturation(submission.saturation(hard), oracle_saturation(hard), rel=1e-6, case="two rows of six are one-hot")
    for dtype, gap in [("float64", np.linspace(12, 40, 57)), ("float32", np.linspace(9, 20, 45))]:
        rows = np.zeros((gap.size, 4)) - np.array([0.0, 0.0, 0.2, 0.4])
        rows[:, 1] += gap
        logits, exact = stored(rows, dtype)
        expect_saturation(submission.saturation(logits), oracle_saturation(exact), rel=1e-3, case=f"{dtype}, every row nearly one-hot")


@points(1)
@of("saturation")
@after("saturation-is-the-mean-jacobian-norm")
def test_saturation_of_lower_precision_logits(submission, rng):
    """float32, float16 and bfloat16 logits give the same number as their exact values."""
    for dtype, rel in [("float32", 2e-5), ("float16", 4e-3), ("bfloat16", 3e-2)]:
        logits, exact = stored(rng.uniform(-1, 1, (3, 2, 6)), dtype)
        expect_saturation(submission.saturation(logits), oracle_saturation(exact), rel=rel, case=f"{dtype} logits")
    logits, exact = stored(np.zeros(1500), "float16")
    expect_saturation(submission.saturation(logits), oracle_saturation(exact), rel=4e-3, case="1500 equal float16 logits")
    logits, exact = stored(6e4 * np.array([[1.0, -1.0, 0.5], [1.0, 1.0, -1.0]]), "float16")
    expect_saturation(submission.saturation(logits), oracle_saturation(exact), rel=4e-3, case="float16 logits of 60000")


@points(1)
@of("qk_norm_logits", "saturation")
@after("saturation-is-the-mean-jacobian-norm", "logits-are-scaled-dot-products-of-normed-vectors", "larger-weights-change-no-logit")
def test_qk_norm_keeps_the_gradient_alive(submission, rng):
    """With weights a thousand times larger, plain logits saturate and the normed ones don't."""
    x, weights = rng.standard_normal((2, 1, 5, 6)), rng.standard_normal((2, 3, 6, 6)) / np.sqrt(6)
    ones = np.ones(6)
    for size in (1.0, 1e3):
        q, k = x @ (size * weights[0]), x @ (size * weights[1])
        plain = q @ k.swapaxes(-1, -2) / np.sqrt(6)
        expect_saturation(submission.saturation(plain), oracle_saturation(plain), rel=1e-6, case=f"plain logits, weights times {size:g}")
        normed = submission.qk_norm_logits(q, k, ones, ones)
        want = oracle_logits(q, k, ones, ones)
        expect(normed, want, case=f"normed logits, weights times {size:g}")
        expect_saturation(submission.saturation(normed.array), oracle_saturation(want), rel=1e-6, case=f"normed logits, weights times {size:g}")


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
    q, k, pair = rng.standard_normal((2, 3, 4, 5)), rng.standard_normal((2, 3, 6, 5)), gains(rng, 5)
    for options in [{"order": (0, 2, 1, 3)}, {"gap": 3, "guard": 4}, {"order": (0, 1, 3, 2)}, {"order": (3, 1, 0, 2)}]:
        view_q, view_k = (tensor(x, dtype="float64", **options) for x in (q, k))
        case = ", ".join(f"{name}={value}" for name, value in options.items())
        expect(submission.rms_norm(view_q, pair[0]), oracle_norm(q, pair[0]), case=f"rms_norm, {case}")
        expect_pair(loaded(submission, pair)(view_q, view_k), oracle_norm(q, pair[0]), oracle_norm(k, pair[1]), dtype=None, case=f"QKNorm, {case}")
        expect(submission.qk_norm_logits(view_q, view_k, *pair), oracle_logits(q, k, *pair), case=f"qk_norm_logits, {case}")


@points(2)
@of(*FUNCTIONS)
def test_nothing_outside_the_result_changes(submission, rng):
    """Arguments, random generators and global settings stay as they were."""
    q, k, pair = rng.standard_normal((2, 3, 4, 5)), rng.standard_normal((2, 3, 6, 5)), gains(rng, 5)
    half = q.astype(np.float16)
    calls = {
        "rms_norm": lambda: submission.rms_norm(q, pair[0]),
        "rms_norm on float16": lambda: submission.rms_norm(half, pair[0].astype(np.float32)),
        "QKNorm": lambda: loaded(submission, pair)(q, k),
        "qk_norm_logits": lambda: submission.qk_norm_logits(q, k, *pair),
        "logit_bound": lambda: submission.logit_bound(*pair),
        "saturation": lambda: submission.saturation(k),
    }
    for name, call in calls.items():
        result = call()
        changed, touched = submission.mutated(result), submission.touched(result)
        claim(not changed, "an argument was changed in place; work on a copy", got=f"changed: {changed}", want="no argument changed", case=name)
        claim(not touched, "global state was changed; leave it as it was", got=f"changed: {touched}", want="nothing changed", case=name)


@points(1)
@of("rms_norm", "QKNorm", "qk_norm_logits")
@after("rms-norm-follows-the-formula", "each-side-has-its-own-gain", "logits-are-scaled-dot-products-of-normed-vectors")
def test_earlier_calls_leave_no_trace(submission, rng):
    """A result stays what it is after later calls, and a call forgets the earlier ones."""
    pair, module = gains(rng, 4), submission.QKNorm(4)
    (q, k), (other_q, other_k) = (rng.standard_normal((2, 2, 2, 3, 4)) for _ in range(2))
    calls = {
        "rms_norm": lambda q, k, **how: submission.rms_norm(q, pair[0], **how),
        "QKNorm": lambda q, k, **how: module(q, k, **how),
        "qk_norm_logits": lambda q, k, **how: submission.qk_norm_logits(q, k, *pair, **how),
    }
    for name, call in calls.items():
        first = call(q, k, _keep=True)
        call(other_q, other_k)
        for before, now in zip(each(first), each(submission.reread(first)), strict=True):
            expect_same(now, before, case=f"{name}: the first result after a second call")
        submission.scribble(first)
        for before, again in zip(each(first), each(call(q, k)), strict=True):
            expect_same(again, before, case=f"{name}: the same call once more")


def each(result):
    return result if isinstance(result, (tuple, list)) else (result,)
