"""Exercise 02, claim by claim."""

import math

import numpy as np
from attngrade.checks.claims import Result, after, all_but_one, claim, expect, expect_number, expect_same, of, points, stretch, tensor

LONG = 100_000
WHOLE = "Short rows are right: if a sum is made in pieces, the last, shorter piece belongs to it as well"
LINEAR = 128 << 20  # bytes: 160 vectors of LONG float64 numbers, where one LONG x LONG array of bits would take 1.2 GB
NARROW = 1e-4  # jacobian_norm promises digits in float64 alone; narrower dtypes are asked for a few


def oracle_softmax(z, axis=-1):
    z = np.asarray(z, dtype=np.float64)
    weights = np.exp(z - z.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)


def oracle_jacobian(z):
    p = oracle_softmax(z)
    rest = [np.delete(p, i, axis=-1).sum(axis=-1) for i in range(p.shape[-1])]  # 1 - p_i without a subtraction
    diagonal = p * np.stack(rest, axis=-1)
    off = -p[..., :, None] * p[..., None, :]
    return np.where(np.eye(p.shape[-1], dtype=bool), diagonal[..., None], off)


def oracle_vjp(z, grad):
    p, grad = oracle_softmax(z), np.asarray(grad, dtype=np.float64)
    return p * (grad - (p * grad).sum(axis=-1, keepdims=True))


def oracle_norm(z):
    """Every term positive, and the total weight of all entries but the largest taken out of the root."""
    z = np.sort(np.asarray(z, dtype=np.float64), axis=-1)
    others = np.exp(z[..., :-1] - z[..., -1:])
    rest = others.sum(axis=-1)
    share = others / np.where(rest > 0, rest, 1.0)[..., None]
    top, rest = 1 / (1 + rest), rest / (1 + rest)
    diagonal = (share * (1 - rest[..., None] * share)) ** 2
    square, fourth = (share**2).sum(axis=-1), (share**4).sum(axis=-1)
    return rest * np.sqrt(top**2 * (1 + 2 * square) + diagonal.sum(axis=-1) + rest**2 * (square**2 - fourth))


def scores(rng, *shape, top=0.9):
    """Scores whose largest probability stays below ``top`` in every row."""
    z = 1.5 * rng.standard_normal(shape)
    if shape[-1] > 1:
        while oracle_softmax(z).max() > top:
            z *= 0.8
    return z


def many(rng):
    """A number of rows or scores that nobody wrote down beforehand."""
    return int(rng.integers(65, 130))


def claim_left_alone(submission, function):
    """No call so far changed an argument or global state."""
    for call in submission.calls:
        if call.function == function:
            claim(not call.mutated, f"{function} changed an argument that it was given; work on a copy")
            claim(not call.touched, f"{function} changed global state: {', '.join(call.touched)}")


# ---------------------------------------------------------------- softmax


@points(2)
@of("softmax")
def test_weights_follow_the_exponentials(submission, rng):
    """The weights are exp(z) over its sum: positive, with sum 1, the larger score the larger weight."""
    rows = [[2.5], [0.0, math.log(2.0)], [1.0, -2.0, 0.5], [0.0, 0.0, 0.0, 0.0], rng.standard_normal(7)]
    for row in rows:
        z = np.array(row)
        got = submission.softmax(z=z)
        expect(got, oracle_softmax(z), dtype="float64", case=f"z={np.array2string(z, precision=3)}")
        claim(abs(got.array.sum() - 1) < 1e-9, f"the weights sum to {got.array.sum():.6g} where 1 is right", got=got)


@points(2)
@of("softmax")
@after("weights-follow-the-exponentials")
def test_softmax_runs_along_the_axis_that_is_named(submission, rng):
    """The softmax runs along `axis`, the last one unless another is named, whatever other axes there are."""
    z = rng.standard_normal((3, 4))
    expect(submission.softmax(z), oracle_softmax(z), case="shape (3, 4), axis not given")
    expect(submission.softmax(z, 0), oracle_softmax(z, 0), case="shape (3, 4), axis=0")
    square = rng.standard_normal((4, 4))
    expect(submission.softmax(square, axis=0), oracle_softmax(square, 0), case="shape (4, 4), axis=0")
    for shape in [(5,), (2, 3, 5), (3, 2, 4, 5), (2, 1, 2, 1, 3, 2), (many(rng), 3)]:
        z = rng.standard_normal(shape)
        for axis in (*range(len(shape)), *range(-len(shape), 0)):
            expect(submission.softmax(z, axis=axis), oracle_softmax(z, axis), case=f"shape {shape}, axis={axis}")
    expect(submission.softmax(rng.standard_normal((3, 1)), axis=1), np.ones((3, 1)), case="shape (3, 1), axis=1")


@points(2)
@of("softmax")
@after("weights-follow-the-exponentials")
def test_large_scores_do_not_overflow(submission, rng):
    """Adding a constant changes nothing: scores of any finite size give finite weights."""
    because = "exp overflows (or everything underflows) unless each row's own maximum is taken away first"
    for row in ([1000.0, 1001.0], [-1000.0, -200.0, -1000.5], [1e300, 1e300, -1e300], [-1e300, -1e300], [1e300, 0.0, 3.0]):
        z = np.array(row)
        expect(submission.softmax(z), oracle_softmax(z), case=f"z={row}", because=because)
    z = np.array([[1000.0, 1001.0, 1000.5], [0.0, 1.0, 0.5], [-1000.0, -999.0, -1000.0], [1e300, 1e300, -1e300]])
    expect(submission.softmax(z), oracle_softmax(z), case="rows of very different size", because=because)
    expect(submission.softmax(z.T.copy(), axis=0), oracle_softmax(z.T, 0), case="columns of very different size, axis=0", because=because)
    for size, place in ((800.0, -1), (-800.0, 0)):
        z, case = size / 1e3 * rng.standard_normal((3, 3 * many(rng))), f"long rows with one score of {size:g}, at the {'end' if place else 'beginning'}"
        z[:, place] += size
        expect(submission.softmax(z), oracle_softmax(z), case=case, because=because)
    for dtype in ("float32", "float16"):
        z = np.array([2000.0, 2001.0, -2000.0]).astype(dtype)
        expect(submission.softmax(z), oracle_softmax(z), dtype=dtype, case=f"{dtype}, z={z.tolist()}", because=because)
    z = np.array([1e38, 1e38, -1e38], dtype=np.float32)
    expect(submission.softmax(z), oracle_softmax(z), dtype="float32", case="float32, z=[1e38, 1e38, -1e38]", because=because)


@points(2)
@of("softmax")
@after("weights-follow-the-exponentials")
def test_minus_infinity_gets_weight_zero(submission, rng):
    """An entry of -inf has weight exactly 0, and the others share as if it weren't there."""
    inf = math.inf
    for row in ([0.0, -inf], [-inf, -3.0, -inf], [-inf, 1.0, 2.0, -inf, 0.5], [-1e300, -inf, -1e300]):
        got = submission.softmax(np.array(row))
        expect(got, oracle_softmax(row), case=f"z={row}")
        claim((got.array[np.isneginf(row)] == 0).all(), "An entry of -inf must have weight exactly 0, and has another", got=got, case=f"z={row}")
    z = rng.standard_normal((3, 4, 2))
    z[:, 1:3, 0] = z[1, 0] = z[2, 3, 1] = -inf
    expect(submission.softmax(z, axis=1), oracle_softmax(z, 1), case="shape (3, 4, 2), axis=1, some entries -inf")
    for dtype in ("float32", "float16"):
        lowest = float(np.finfo(dtype).min)
        for row in ([1.0, -inf, 2.0], [lowest, -inf], [-inf, lowest, -inf]):  # no finite number stands for -inf
            narrow = np.array(row, dtype=dtype)
            expect(submission.softmax(narrow), oracle_softmax(narrow), dtype=dtype, case=f"{dtype}, z={row}")
    narrow = (np.round(8 * z.T) / 8).astype(np.float16)
    expect(submission.softmax(narrow, axis=1), oracle_softmax(narrow, 1), dtype="float16", case="float16, shape (2, 4, 3), axis=1, some entries -inf")


@points(2)
@of("softmax")
@after("weights-follow-the-exponentials")
def test_softmax_keeps_the_dtype_and_sums_in_a_wide_one(submission, rng):
    """float32 and float16 come back as they came; float16 is summed in float32."""
    for dtype in ("float32", "float16"):
        z = rng.standard_normal((2, 6)).astype(dtype)
        expect(submission.softmax(z), oracle_softmax(z), dtype=dtype, case=f"{dtype}, shape (2, 6)")
    z = (-rng.random(80_000) / 16).astype(np.float16)
    because = "The sum of the exponentials is larger than float16 holds (65504): widen to float32 before exp, cast back at the end"
    expect(submission.softmax(z), oracle_softmax(z), dtype="float16", case="float16, n=80,000", because=because)


# ---------------------------------------------------------------- softmax_jacobian


@points(3)
@of("softmax_jacobian")
def test_jacobian_is_diag_p_minus_p_p_transposed(submission, rng):
    """J[i, j] = p_i (1[i = j] - p_j): symmetric, every row sums to 0."""
    for z in (np.array([0.0, math.log(2.0)]), np.array([1.0, -2.0, 0.5]), np.zeros(4), scores(rng, 6)):
        got = submission.softmax_jacobian(z=z)
        case = f"z={np.array2string(z, precision=3)}"
        uneven = isinstance(got, Result) and got.shape == (z.size, z.size) and not np.abs(got.array.sum(axis=-1)).max() < 1e-6
        expect(got, oracle_jacobian(z), dtype="float64", case=case, because="The rows of J must sum to 0: the weights keep their sum of 1" if uneven else None)
    expect(submission.softmax_jacobian(np.array([3.0])), np.zeros((1, 1)), atol=1e-9, case="n=1: the only weight is always 1")


@points(2)
@of("softmax_jacobian")
@after("jacobian-is-diag-p-minus-p-p-transposed")
def test_jacobian_of_every_row_of_a_batch(submission, rng):
    """Every row has its own Jacobian, whatever leading axes there are."""
    for shape in [(1, 2), (2, 3), (3, 3), (3, 1), (2, 1, 4), (3, 2, 5), (2, 3, 1, 4), (2, 1, 3, 1, 2, 3), (many(rng), 3), (2, many(rng))]:
        z = scores(rng, *shape)
        expect(submission.softmax_jacobian(z), oracle_jacobian(z), dtype="float64", atol=1e-12, case=f"z of shape {shape}")


@points(1)
@of("softmax_jacobian")
@after("jacobian-is-diag-p-minus-p-p-transposed")
def test_jacobian_of_large_scores_is_finite(submission):
    """Scores of any finite size have a finite Jacobian, row by row."""
    z = np.array([[1000.0, 1001.0, 1000.5], [0.0, 1.0, 0.5], [-1000.0, -999.0, -1000.0], [1e300, 1e300, -1e300]])
    expect(submission.softmax_jacobian(z[0]), oracle_jacobian(z[0]), case=f"z={z[0].tolist()}")
    expect(submission.softmax_jacobian(z), oracle_jacobian(z), case="rows of very different size")


@points(1)
@of("softmax_jacobian")
@after("jacobian-is-diag-p-minus-p-p-transposed")
def test_jacobian_keeps_the_dtype(submission, rng):
    """float32 and float16 come back as they came; float16 is computed in float32."""
    for dtype, shape in (("float32", (4,)), ("float32", (2, 3, 5)), ("float16", (4,)), ("float16", (2, 5))):
        z = scores(rng, *shape, top=0.85).astype(dtype)
        expect(submission.softmax_jacobian(z), oracle_jacobian(z), dtype=dtype, case=f"{dtype}, shape {shape}")
    z = np.stack([np.linspace(2.7, 2.9, 64), np.zeros(64), np.full(64, -1.0)], axis=-1).astype(np.float16)
    because = "p - p**2 cancels: with p in float16 a third of the digits are gone. Keep p in float32 and cast J at the end"
    expect(submission.softmax_jacobian(z), oracle_jacobian(z), dtype="float16", case="float16, largest weights near 0.9", because=because)


# ---------------------------------------------------------------- softmax_vjp


def sum_told(got, n):
    """What a wrong product may be told of itself: that its entries don't sum to 0."""
    if not isinstance(got, Result) or got.shape != (n,) or abs(total := float(got.array.sum())) < 1e-6:
        return None
    return f"Raising all scores by the same amount changes no weight, so the entries of J^T grad sum to 0; yours sum to {total:.3g}"


@points(3)
@of("softmax_vjp")
def test_vjp_is_the_jacobian_times_the_gradient(submission, rng):
    """The result is J^T grad, and 0 where all entries of grad are equal."""
    for n in (2, 3, 6):
        z, grad = scores(rng, n), rng.standard_normal(n)
        got = submission.softmax_vjp(z, grad)
        expect(got, oracle_vjp(z, grad), dtype="float64", case=f"n={n}", because=sum_told(got, n))
    z = scores(rng, 5)
    for place in (0, 3):
        grad = np.eye(5)[place]
        expect(submission.softmax_vjp(z, grad), oracle_vjp(z, grad), case=f"n=5, grad is 1 at place {place}: a column of J")
    expect(submission.softmax_vjp(z=z, grad=np.full(5, 1.5)), np.zeros(5), atol=1e-12, case="n=5, all of grad is 1.5")
    expect(submission.softmax_vjp(np.array([2.0]), np.array([3.0])), np.zeros(1), atol=1e-9, case="n=1: the only weight is always 1")


@points(2)
@of("softmax_vjp")
@after("vjp-is-the-jacobian-times-the-gradient")
def test_vjp_of_every_row_of_a_batch(submission, rng):
    """Every row meets its own gradient, whatever leading axes there are."""
    for shape in [(1, 2), (2, 3), (3, 3), (3, 1), (4, 4, 4), (2, 1, 4), (3, 2, 5), (2, 3, 1, 4), (2, 1, 3, 1, 2, 3), (many(rng), 3)]:
        z, grad = scores(rng, *shape), rng.standard_normal(shape)
        expect(submission.softmax_vjp(z, grad), oracle_vjp(z, grad), dtype="float64", atol=1e-12, case=f"z and grad of shape {shape}")


@points(1)
@of("softmax_vjp")
@after("vjp-is-the-jacobian-times-the-gradient")
def test_vjp_of_large_scores_is_finite(submission, rng):
    """Scores of any finite size give a finite result, row by row."""
    z = np.array([[1000.0, 1001.0, 1000.5], [0.0, 1.0, 0.5], [-1000.0, -999.0, -1000.0], [1e300, 1e300, -1e300]])
    grad = rng.standard_normal((4, 3))
    expect(submission.softmax_vjp(z[0], grad[0]), oracle_vjp(z[0], grad[0]), case=f"z={z[0].tolist()}")
    expect(submission.softmax_vjp(z, grad), oracle_vjp(z, grad), case="rows of very different size")


@points(1)
@of("softmax_vjp")
@after("vjp-is-the-jacobian-times-the-gradient")
def test_vjp_keeps_the_dtype(submission, rng):
    """float32 and float16 come back as they came; float16 is computed in float32."""
    for dtype in ("float32", "float16"):
        for shape in ((4,), (2, 3, 5)):
            z, grad = (x.astype(dtype) for x in (scores(rng, *shape, top=0.85), rng.standard_normal(shape)))
            expect(submission.softmax_vjp(z, grad), oracle_vjp(z, grad), dtype=dtype, case=f"{dtype}, shape {shape}")
    z, grad = scores(rng, 2, 5, top=0.85), rng.standard_normal((2, 5))
    because = "The result has z's dtype, whatever grad has"
    for one, other in (("float32", "float64"), ("float64", "float32")):
        row, cotangent = z.astype(one), grad.astype(other)
        expect(submission.softmax_vjp(row, cotangent), oracle_vjp(row, cotangent), dtype=one, tol=2e-5, case=f"z of {one}, grad of {other}", because=because)
    z = scores(rng, 12, top=0.5).astype(np.float16)
    grad = (100 + rng.integers(-16, 17, 12) / 16).astype(np.float16)
    because = "grad minus its weighted mean cancels: keep the sum in float32 and cast the result at the end"
    expect(submission.softmax_vjp(z, grad), oracle_vjp(z, grad), dtype="float16", case="float16, grad near 100", because=because)


@points(2)
@of("softmax_vjp")
@after("vjp-is-the-jacobian-times-the-gradient")
def test_vjp_needs_memory_linear_in_n(submission, rng):
    """n = 100,000 works in memory linear in n."""
    for n, allowed in ((3000, 64 << 20), (LONG, LINEAR)):
        z, grad = rng.standard_normal(n), rng.standard_normal(n)
        got = submission.softmax_vjp(z, grad)
        taken = submission.peak_bytes()
        told = f"softmax_vjp took {taken / 2**20:.0f} MiB more than before; an n x n array is never needed"
        claim(taken < allowed, told, case=f"n={n:,}")
        expect(got, oracle_vjp(z, grad), case=f"n={n:,}", because=WHOLE)


# ---------------------------------------------------------------- jacobian_norm


def entries_told(z):
    """The Jacobian of a short row and the sum of its squared entries, for those whose formula is wrong; None for a long row."""
    if z.ndim != 1 or not 1 < z.size <= 3:
        return None
    jacobian = oracle_jacobian(z)
    rows = ", ".join(f"[{', '.join(f'{entry:.4g}' for entry in row)}]" for row in jacobian)
    return f"The Jacobian is [{rows}] there, and its squared entries sum to {(jacobian**2).sum():.4g}"


def expect_norm(got, z, tol, case, dtype=None, because=None):
    """A number for one row, an array for more."""
    want = oracle_norm(z)
    if want.ndim:
        expect(got, want, dtype=dtype, tol=tol, case=case, because=because)
    else:
        expect_number(got, float(want), rel=tol, atol=1e-9 if want == 0 else 0.0, allow_0d=True, case=case, because=because)


@points(3)
@of("jacobian_norm")
def test_norm_is_that_of_the_jacobian(submission, rng):
    """The root of the sum of all squared entries of J, where no weight is above 0.99."""
    rows = [[0.0, 0.0], [0.0, math.log(2.0)], [1.0, -2.0, 0.5], np.zeros(16), [4.0, 0.0, -1.0, 0.5], [1e300, 1e300, -1e300]]
    for row in (*rows, scores(rng, 5), scores(rng, 9, top=0.6)):
        z = np.array(row)
        expect_norm(submission.jacobian_norm(z=z), z, 1e-6, f"z={np.array2string(z, precision=3)}", because=entries_told(z))
    expect_norm(submission.jacobian_norm(np.array([2.0])), np.array([2.0]), 1e-6, "n=1: the only weight is always 1")


@points(2)
@of("jacobian_norm")
@after("norm-is-that-of-the-jacobian")
def test_norm_of_every_row_of_a_batch(submission, rng):
    """One norm for every row, whatever leading axes there are."""
    for shape in [(1, 2), (2, 3), (3, 3), (2, 1, 4), (3, 2, 5), (2, 3, 1, 4), (2, 1, 3, 1, 2, 3), (many(rng), 3)]:
        z = scores(rng, *shape) + 1000 * rng.integers(-1, 2, (*shape[:-1], 1))
        expect_norm(submission.jacobian_norm(z), z, 1e-6, f"z of shape {shape}", "float64")
    expect(submission.jacobian_norm(scores(rng, 3, 1)), np.zeros(3), dtype="float64", atol=1e-7, case="z of shape (3, 1): the only weight is always 1")


@points(1)
@of("jacobian_norm")
@after("norm-is-that-of-the-jacobian")
def test_norm_keeps_the_dtype(submission, rng):
    """float32 and float16 come back as they came."""
    for dtype, tol in (("float32", NARROW), ("float16", None)):
        z = scores(rng, 3, 5, top=0.7).astype(dtype)
        expect_norm(submission.jacobian_norm(z), z, tol, f"{dtype}, shape (3, 5)", dtype)
    z = rng.standard_normal((2, 20_000)).astype(np.float16)
    expect_norm(submission.jacobian_norm(z), z, None, "float16, shape (2, 20000): squares of weights underflow in float16", "float16")


@points(2)
@of("jacobian_norm")
@after("norm-is-that-of-the-jacobian")
def test_norm_needs_memory_linear_in_n(submission, rng):
    """n = 100,000 works in memory linear in n."""
    for n, allowed in ((3000, 64 << 20), (LONG, LINEAR)):
        z = rng.standard_normal(n)
        got = submission.jacobian_norm(z)
        taken = submission.peak_bytes()
        told = f"jacobian_norm took {taken / 2**20:.0f} MiB more than before; an n x n array is never needed"
        claim(taken < allowed, told, case=f"n={n:,}")
        expect_norm(got, z, 1e-6, f"n={n:,}", because=WHOLE)


# ---------------------------------------------------------------- all four


@points(1)
@of("softmax", "softmax_jacobian", "softmax_vjp", "jacobian_norm")
@after("weights-follow-the-exponentials", "jacobian-is-diag-p-minus-p-p-transposed", "vjp-is-the-jacobian-times-the-gradient", "norm-is-that-of-the-jacobian")
def test_results_depend_on_values_and_not_on_memory(submission, rng):
    """Transposed and strided views give what their copies give."""
    z, grad = scores(rng, 3, 4, 5), rng.standard_normal((3, 4, 5))
    for view, case in ((tensor(z, order=(2, 0, 1)), "axes stored in another order"), (tensor(z, order=(1, 0, 2), gap=3), "rows with gaps")):
        expect(submission.softmax(view, axis=1), oracle_softmax(z, 1), case=f"{case}, axis=1")
        expect(submission.softmax_jacobian(view), oracle_jacobian(z), case=case)
        expect(submission.softmax_vjp(view, tensor(grad, order=(0, 2, 1))), oracle_vjp(z, grad), case=case)
        expect(submission.jacobian_norm(view), oracle_norm(z), tol=1e-6, case=case)


@points(1)
@of("softmax", "softmax_jacobian", "softmax_vjp", "jacobian_norm")
@after("weights-follow-the-exponentials", "jacobian-is-diag-p-minus-p-p-transposed", "vjp-is-the-jacobian-times-the-gradient", "norm-is-that-of-the-jacobian")
def test_each_result_is_the_callers_own(submission, rng):
    """No call changes, or is changed by, the result of another call, an argument or global state."""
    one, other, grad = scores(rng, 2, 3), scores(rng, 2, 3), rng.standard_normal((2, 3))
    table = [("softmax", oracle_softmax), ("softmax_jacobian", oracle_jacobian), ("softmax_vjp", oracle_vjp, grad), ("jacobian_norm", oracle_norm)]
    for name, oracle, *more in table:
        function = getattr(submission, name)
        kept = function(one, *more, _keep=True)
        expect(kept, oracle(one, *more), tol=1e-6, case="shape (2, 3)")
        function(other, *more)
        told = f"A second call of {name} overwrote the result of the first"
        expect_same(submission.reread(kept), kept, case="read again after a second call", because=told)
        for factor in range(2, 10):
            function(factor * other, *more)
        told = f"A later call of {name} overwrote the result of the first"
        expect_same(submission.reread(kept), kept, case="read again after nine more calls", because=told)
        submission.scribble(kept)
        near = [all_but_one(values, rng) for values in (one, *more)]
        again = function(*near, _before=(one, *more))
        told = f"{name} remembers an array and not what is in it: asked again after its caller had changed the array in place"
        expect(again, oracle(*near), tol=1e-6, case="shape (2, 3), the same array with another number inside", because=told)
        told = f"Two calls of {name} share memory"
        expect_same(function(one, *more), kept, case="after the caller wrote into the first result", because=told)
        claim_left_alone(submission, name)


# ---------------------------------------------------------------- stretch


@stretch(2)
@of("jacobian_norm")
@after("norm-is-that-of-the-jacobian")
def test_norm_keeps_its_digits_as_the_softmax_saturates(submission, rng):
    """Nine digits are right however close the largest weight is to 1."""
    z = np.sort(rng.standard_normal(8))
    z[-1] = z[-2] + 0.5 + rng.random()
    because = "Near saturation 1 - p has no digits left: sum the other probabilities instead"
    for size in (8, 16, 32):
        row = size * z
        expect_number(submission.jacobian_norm(row), float(oracle_norm(row)), rel=1e-9, allow_0d=True, case=f"scores times {size}", because=because)
    row = np.array([0.0, 0.0, -45.0])
    expect_number(submission.jacobian_norm(row), float(oracle_norm(row)), rel=1e-9, allow_0d=True, case="a tie on top", because=because)
    rows = np.stack([size * z for size in (1, 4, 16)])
    got, want = submission.jacobian_norm(rows), oracle_norm(rows)
    expect(got, want, tol=1e-9, case="three rows", because=because)
    claim((np.abs(got.array - want) <= 1e-9 * want).all(), "a norm is off by more than 1e-9 of itself", got=got, want=want, case="three rows", because=because)


@stretch(2)
@of("jacobian_norm")
@after("norm-is-that-of-the-jacobian")
def test_norm_is_right_down_to_1e_300(submission, rng):
    """A norm of 1e-300 has nine right digits too."""
    because = "The square of a number below 1e-154 is 0: take the small factor out of the root"
    for gap in (50.0, 200.0, 400.0, 680.0):
        row = np.concatenate([[gap], -rng.random(5)])
        expect_number(submission.jacobian_norm(row), float(oracle_norm(row)), rel=1e-9, allow_0d=True, case=f"a gap of {gap:g}", because=because)
