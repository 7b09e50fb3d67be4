"""Exercise 05, claim by claim: the norm. Module, logits, bound and saturation are in the parts check_qk_norm_*.py."""

import numpy as np
from attngrade.checks.claims import after, claim, of, points, refuses
from attngrade.checks.qk_norm_oracles import (
    NARROW,
    around,
    drawn_gains,
    drawn_triple,
    finite_at_zeros,
    norm,
    norm_pullback,
    same,
    same_gradients,
    stored,
    values,
)


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
    for shape in [(3,), (1,), (2, 5), (3, 1, 4), (2, 3, 4, 6), (2, int(rng.integers(65, 140))), (2, 1, 3, 2, 7), (3, 7, int(rng.integers(40, 70)), 64)]:
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
    for shape, eps in [((4,), 1e-6), ((2, 3, 5), 0.3), ((3, int(rng.integers(9, 20)), 64), 1e-6)]:
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
