"""What people get wrong in exercise 02 about the norm of the Jacobian."""

import numpy as np
from attngrade.misconceptions import misconception
from attngrade.solutions.exercise02_softmax_jacobian import jacobian_norm, narrow, softmax, softmax_jacobian, widen

__all__: list[str] = []  # filled by `wrong_norm`: every misconception below


def wrong_norm(name, **options):
    """A misconception of jacobian_norm, exported."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="jacobian_norm", **options)(code)

    return mark


def sums(z, *powers):
    p = softmax(widen(z))
    return [(p**power).sum(axis=-1) for power in powers]


def plain(z):
    """The squared norm in its required form, without the stretch."""
    two, three = sums(z, 2, 3)
    return two - 2 * three + two**2


def root(squared, z):
    return narrow(np.sqrt(np.maximum(squared, 0)), z)


@wrong_norm("norm-builds-the-jacobian")
def norm_builds(z):
    """You build the n x n Jacobian; for n = 100,000 it has 80 GB.

    Example: n=3000 already takes 72 MB for an array of which one number is kept.
    Why: the sum of its squares is S2 - 2 S3 + S2**2, with S2 and S3 the sums of squares and cubes of p.
    Look at: the diagonal and the rest, each as sums of powers of p.
    """
    return narrow(np.sqrt((softmax_jacobian(widen(z)) ** 2).sum(axis=(-2, -1))), z)


@wrong_norm("norm-squared")
def norm_squared(z):
    """You return the squared norm; the root is missing.

    Example: z=[0, 0]: you give 0.25, right is 0.5.
    Why: the Frobenius norm is the root of the sum of squares.
    Look at: the return line.
    """
    two, three = sums(z, 2, 3)
    return narrow(two - 2 * three + two**2, z)


@wrong_norm("norm-of-the-diagonal")
def norm_of_the_diagonal(z):
    """You sum the squares of the diagonal alone (or have S4 where S2**2 belongs, which is the same); J has entries -p_i p_j beside it.

    Example: z=[0, 0]: you give 0.354, right is 0.5.
    Why: the Frobenius norm counts all n * n entries.
    Look at: sum over i != j of (p_i p_j)**2 = S2**2 - S4.
    """
    p = softmax(widen(z))
    return root(((p * (1 - p)) ** 2).sum(axis=-1), z)


@wrong_norm("norm-off-diagonal-counted-whole")
def norm_off_diagonal_whole(z):
    """For the part off the diagonal you take S2**2, which has the diagonal p_i**4 in it: S2**2 - S4 is the part with i != j.

    Example: z=[0, 0]: you give 0.612, right is 0.5.
    Why: S2**2 is the sum over all pairs i, j.
    Look at: the sum of p_i**4.
    """
    p = softmax(widen(z))
    two = (p**2).sum(axis=-1)
    return root(((p * (1 - p)) ** 2).sum(axis=-1) + two**2, z)


@wrong_norm("norm-cross-term-missing")
def norm_cross_missing(z):
    """You add the squares of diag(p) and of p p^T; the square of a difference has a cross term.

    Example: z=[0, 0]: you give 0.866, right is 0.5.
    Why: sum((D - P)**2) = S2 - 2 S3 + S2**2, and -2 S3 is the cross term.
    Look at: diag(p) - p p^T, squared entry by entry.
    """
    two, _ = sums(z, 2, 3)
    return root(two + two**2, z)


@wrong_norm("norm-cross-term-once")
def norm_cross_once(z):
    """Your cross term is counted once; it is -2 S3.

    Example: z=[0, 0]: you give 0.707, right is 0.5.
    Why: (a - b)**2 = a**2 - 2 a b + b**2.
    Look at: the factor 2.
    """
    two, three = sums(z, 2, 3)
    return root(two - three + two**2, z)


@wrong_norm("norm-trace")
def norm_trace(z):
    """You return the trace of J, 1 - sum(p**2); the Frobenius norm is asked.

    Example: z=[0, 0, 0, 0]: you give 0.75, right is 0.433.
    Why: the trace is the sum of the eigenvalues, the norm the root of the sum of their squares.
    Look at: the sum of the squares of all entries.
    """
    return narrow(1 - sums(z, 2)[0], z)


@wrong_norm("norm-root-of-the-trace")
def norm_root_of_trace(z):
    """You return the root of the trace of J, sqrt(1 - sum(p**2)); the Frobenius norm is asked.

    Example: z=[0, 0]: you give 0.707, right is 0.5.
    Why: the sum of the squared entries is S2 - 2 S3 + S2**2.
    Look at: the sum of the squares of all entries.
    """
    return root(1 - sums(z, 2)[0], z)


@wrong_norm("norm-largest-entry")
def norm_largest(z):
    """You return the largest entry of J.

    Example: z=[0, 0]: you give 0.25, right is 0.5.
    Why: the Frobenius norm is the root of the sum of all squared entries.
    Look at: `max`.
    """
    p = softmax(widen(z))
    return narrow((p * (1 - p)).max(axis=-1), z)


@wrong_norm("norm-sum-of-sizes")
def norm_sum_of_sizes(z):
    """You sum the absolute entries of J; the root of the sum of squares is asked.

    Example: z=[0, 0]: you give 1, right is 0.5.
    Why: the Frobenius norm squares first.
    Look at: the power.
    """
    return narrow(2 * (1 - sums(z, 2)[0]), z)


@wrong_norm("norm-averaged")
def norm_averaged(z):
    """You take the mean of the squared entries; the Frobenius norm takes their sum.

    Example: z=[0, 0]: you give 0.25, right is 0.5.
    Why: a root mean square is n times smaller than the Frobenius norm of an n x n matrix.
    Look at: `mean`.
    """
    return narrow(widen(jacobian_norm(widen(z))) / np.shape(z)[-1], z)


@wrong_norm("norm-of-the-weights")
def norm_of_the_weights(z):
    """You return the norm of p; the norm of its Jacobian is asked.

    Example: z=[0, 0]: you give 0.707, right is 0.5.
    Why: a one-hot p has norm 1 and a Jacobian of norm 0.
    Look at: what your function gives for a saturated row.
    """
    return root(sums(z, 2)[0], z)


@wrong_norm("norm-one-for-the-batch")
def norm_one_for_all(z):
    """You return one norm for the whole batch; every row has its own.

    Example: z of shape (2, 3) gives one number, right is shape (2,).
    Why: `(..., n)` in, `(...)` out.
    Look at: the axes of your sum, or of `np.linalg.norm`.
    """
    norms = np.asarray(widen(jacobian_norm(widen(z))))
    return narrow(np.sqrt((norms**2).sum()), z)


@wrong_norm("norm-of-everything-at-once")
def norm_of_everything(z):
    """You build the n x n Jacobian and take one norm over all of it, batch included; every row has its own norm, in linear memory.

    Example: z of shape (2, 3) gives one number, right is shape (2,).
    Why: `np.linalg.norm` without an axis flattens what it gets.
    Look at: sums of powers of p along the last axis.
    """
    return np.linalg.norm(softmax_jacobian(widen(z)))


@wrong_norm("norm-keeps-an-axis")
def norm_keeps_axis(z):
    """Your result keeps an axis of length 1.

    Example: z of shape (2, 3) gives (2, 1), right is (2,).
    Why: `(..., n)` in, `(...)` out.
    Look at: `keepdims`.
    """
    return np.asarray(jacobian_norm(z))[..., None]


@wrong_norm("norm-rows-alone")
def norm_vectors_alone(z):
    """You handle one row alone; a batch of rows fails.

    Example: z of shape (2, 3) must give (2,).
    Why: `(..., n)` is any number of leading axes.
    Look at: `axis=-1` in every sum.
    """
    if np.ndim(z) != 1:
        raise ValueError("z must have one axis")
    return jacobian_norm(z)


@wrong_norm("norm-no-shift")
def norm_no_shift(z):
    """Inside your norm exp overflows for large scores: the maximum isn't taken away.

    Example: z=[1e300, 1e300, -1e300] gives NaN.
    Why: the norm depends on p alone, and p on differences of scores.
    Look at: your own `softmax`: use it here.
    """
    with np.errstate(all="ignore"):
        e = np.exp(widen(z))
        p = e / e.sum(axis=-1, keepdims=True)
        two, three = (p**2).sum(axis=-1), (p**3).sum(axis=-1)
        return root(two - 2 * three + two**2, z)


@wrong_norm("norm-maximum-of-everything")
def norm_global_maximum(z):
    """Inside your norm the maximum of the whole batch is taken away; rows of small scores underflow.

    Example: rows near 1000 and rows near 0 in one batch: the latter give NaN.
    Why: every row needs its own maximum.
    Look at: your own `softmax`: use it here.
    """
    x = widen(z)
    with np.errstate(all="ignore"):
        e = np.exp(x - x.max())
        p = e / e.sum(axis=-1, keepdims=True)
        two, three = (p**2).sum(axis=-1), (p**3).sum(axis=-1)
        return root(two - 2 * three + two**2, z)


@wrong_norm("norm-always-float64")
def norm_always_float64(z):
    """You return float64 whatever came in.

    Example: float32 scores give a float64 norm.
    Why: a result has the dtype of its input.
    Look at: `.astype(z.dtype)` at the end.
    """
    return root(plain(z), np.float64(0))


@wrong_norm("norm-float16-becomes-float32")
def norm_not_cast_back(z):
    """A norm of float16 scores comes back as float32: the result isn't cast back.

    Example: `jacobian_norm(z).dtype` is float32 for float16 z of shape (3, 5).
    Why: compute wide, return what came in.
    Look at: `.astype(z.dtype)` at the end.
    """
    return root(plain(z), widen(z))


@wrong_norm("norm-in-float16")
def norm_in_float16(z):
    """With float16 scores you square the weights in float16, where anything below 2e-4 squared is 0.

    Example: for 20,000 scores the weights are about 5e-5, their squares 0, and so is the norm.
    Why: sums of powers run in float32; the result is cast back once.
    Look at: the dtype of p inside the function.
    """
    p = softmax(z)
    two, three = (p**2).sum(axis=-1), (p**3).sum(axis=-1)
    return np.sqrt(np.maximum(two - 2 * three + two**2, 0))


@wrong_norm("norm-changes-its-argument")
def norm_in_place(z):
    """You write into the caller's own array.

    Example: after the call z holds shifted scores.
    Why: no function changes an argument.
    Look at: `z -= ...` or `out=z`.
    """
    result = jacobian_norm(z)
    z -= z.max(axis=-1, keepdims=True)
    return result
