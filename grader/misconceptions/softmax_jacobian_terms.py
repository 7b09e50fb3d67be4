"""What people get wrong in exercise 02 about the terms of the norm: which powers of p, how often each, with which sign."""

import math

import numpy as np
from attngrade.misconceptions import misconception
from attngrade.solutions.exercise02_softmax_jacobian import jacobian_norm, narrow, softmax, widen

__all__: list[str] = []  # filled by `wrong_terms`: every misconception below


def wrong_terms(name, **options):
    """A misconception of jacobian_norm, exported."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="jacobian_norm", **options)(code)

    return mark


def sums(z):
    """The sums of squares, cubes and fourth powers of p, row by row."""
    p = softmax(widen(z))
    return [(p**power).sum(axis=-1) for power in (2, 3, 4)]


def root(squared, z):
    return narrow(np.sqrt(np.maximum(squared, 0)), z)


@wrong_terms("norm-as-an-outer-product")
def norm_outer_product(z):
    """You return |p| times |1 - p|, the norm of the outer product of p and 1 - p; J has -p_i p_j off the diagonal, not p_i (1 - p_j).

    Example: z=[0, ln 2]: you give 0.556, right is 0.444.
    Why: J[i, j] = p_i (1[i = j] - p_j), and the 1 is there for i = j alone.
    Look at: the entries of J with i != j.
    """
    p = softmax(widen(z))
    return root((p**2).sum(axis=-1) * ((1 - p) ** 2).sum(axis=-1), z)


@wrong_terms("norm-cross-term-added")
def norm_cross_added(z):
    """Your cross term has the wrong sign: it is -2 S3, and you add it (S2, S3, S4: the sums of p**2, p**3, p**4).

    Example: z=[0, 0]: you give 1.118, right is 0.5.
    Why: (a - b)**2 = a**2 - 2 a b + b**2, and J = diag(p) - p p^T.
    Look at: the sign before S3.
    """
    two, three, _ = sums(z)
    return root(two + 2 * three + two**2, z)


@wrong_terms("norm-cross-term-of-squares")
def norm_cross_of_squares(z):
    """Your squared norm comes to S2 - S2**2 (S2: the sum of p**2): the cross term is -2 S3, not -2 S2**2, and (a - b)**2 isn't a**2 - b**2.

    Example: z=[0, ln 2]: you give 0.497, right is 0.444.
    Why: the cross term is the sum over i of p_i * p_i**2, a sum of cubes; a product of two sums has pairs i != j in it.
    Look at: diag(p) - p p^T, squared entry by entry, and only then summed.
    """
    two, _, _ = sums(z)
    return root(two - two**2, z)


@wrong_terms("norm-cross-term-of-fourth-powers")
def norm_cross_of_fourth_powers(z):
    """Your cross term is -2 S4 where -2 S3 belongs: the powers in it are one too high.

    Example: z=[0, 0]: you give 0.707, right is 0.5.
    Why: diag(p) has p_i on the diagonal and p p^T has p_i**2; their product is p_i**3.
    Look at: the middle term of the squared difference.
    """
    two, _, four = sums(z)
    return root(two - 2 * four + two**2, z)


@wrong_terms("norm-last-term-not-squared")
def norm_last_not_squared(z):
    """Your last term is S2 where S2**2 belongs: the sum of all (p_i p_j)**2 is a sum of squares, squared.

    Example: z=[0, 0]: you give 0.707, right is 0.5.
    Why: sum over i and j of p_i**2 p_j**2 = (sum of p_i**2) * (sum of p_j**2).
    Look at: the term that comes from p p^T alone.
    """
    two, three, _ = sums(z)
    return root(2 * two - 2 * three, z)


@wrong_terms("norm-last-term-missing")
def norm_last_missing(z):
    """Your sum ends at S2 - 2 S3; the squares of p p^T itself are missing, S2**2.

    Example: z=[0, 0]: you give 0, right is 0.5.
    Why: (a - b)**2 has three terms, and b**2 is the last of them.
    Look at: diag(p) - p p^T, squared entry by entry.
    """
    two, three, _ = sums(z)
    return root(two - 2 * three, z)


@wrong_terms("norm-off-diagonal-alone")
def norm_off_diagonal_alone(z):
    """You sum the squares off the diagonal alone, S2**2 - S4; the diagonal has p_i (1 - p_i).

    Example: z=[0, 0]: you give 0.354, right is 0.5.
    Why: the Frobenius norm counts all n * n entries.
    Look at: the entries of J with i = j.
    """
    two, _, four = sums(z)
    return root(two**2 - four, z)


@wrong_terms("norm-pairs-counted-once")
def norm_pairs_once(z):
    """Off the diagonal you count every pair i < j once; J has it twice, at (i, j) and at (j, i).

    Example: z=[0, 0]: you give 0.433, right is 0.5.
    Why: J is symmetric, and the Frobenius norm counts both halves.
    Look at: a factor of 1/2, or an inner sum that starts at i + 1.
    """
    two, three, four = sums(z)
    return root(two - 2 * three + four + (two**2 - four) / 2, z)


@wrong_terms("norm-pairs-counted-twice")
def norm_pairs_twice(z):
    """Off the diagonal you double a sum that has every pair in it twice already: S2**2 - S4 runs over all i != j.

    Example: z=[0, 0]: you give 0.612, right is 0.5.
    Why: S2**2 - S4 has (i, j) and (j, i).
    Look at: a factor of 2 before the part off the diagonal.
    """
    two, three, four = sums(z)
    return root(two - 2 * three + four + 2 * (two**2 - four), z)


@wrong_terms("norm-diagonal-without-its-square")
def norm_diagonal_without_square(z):
    """For the diagonal you sum p_i**2; its entries are p_i (1 - p_i).

    Example: z=[0, 0]: you give 0.791, right is 0.5.
    Why: p p^T is taken away on the diagonal, too.
    Look at: the entries of J with i = j.
    """
    two, _, four = sums(z)
    return root(two + two**2 - four, z)


@wrong_terms("norm-difference-of-norms")
def norm_difference(z):
    """You take the norm of diag(p) less the norm of p p^T; the norm of a difference isn't the difference of the norms.

    Example: z=[0, 0]: you give 0.207, right is 0.5.
    Why: the two matrices overlap on the diagonal alone, which is where the cross term -2 S3 comes from.
    Look at: diag(p) - p p^T, squared entry by entry, and only then summed.
    """
    two, _, _ = sums(z)
    return narrow(np.sqrt(two) - two, z)


@wrong_terms("norm-root-of-the-sum-of-sizes")
def norm_root_of_sizes(z):
    """You sum the sizes of the entries and take the root; each entry has to be squared first.

    Example: z=[0, 0]: you give 1, right is 0.5.
    Why: the Frobenius norm is the root of a sum of squares.
    Look at: the powers: p**2 and p in place of p**4 and p**2.
    """
    two, _, _ = sums(z)
    return root(2 * (1 - two), z)


@wrong_terms("norm-largest-row-sum")
def norm_largest_row_sum(z):
    """You return the largest sum of sizes in a row, 2 p_i (1 - p_i), which is the norm of another kind.

    Example: z=[0, 0, 0, 0]: you give 0.375, right is 0.433.
    Why: the Frobenius norm is the root of the sum of all squared entries.
    Look at: `ord` of `np.linalg.norm`: without it, it is Frobenius.
    """
    p = softmax(widen(z))
    return narrow((2 * p * (1 - p)).max(axis=-1), z)


@wrong_terms("norm-of-the-exponentials")
def norm_of_exponentials(z):
    """Your sums of powers run over exp(z - max); they run over the weights, which are divided by their sum.

    Example: z=[0, 0]: you give 1.414, right is 0.5.
    Why: J = diag(p) - p p^T with p of sum 1.
    Look at: the division by the sum.
    """
    x = widen(z)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    two, three = (e**2).sum(axis=-1), (e**3).sum(axis=-1)
    return root(two - 2 * three + two**2, z)


@wrong_terms("norm-softmax-twice")
def norm_softmax_twice(z):
    """Inside your norm the softmax is applied twice: what comes in are scores, and their weights go through it again.

    Example: z=[0, ln 2]: you give 0.486, right is 0.444.
    Why: weights lie between 0 and 1, so a second softmax makes them nearly equal.
    Look at: every call of softmax on the way to the sums.
    """
    return narrow(np.asarray(jacobian_norm(softmax(widen(z)))), z)


@wrong_terms("norm-of-the-scores-themselves")
def norm_of_scores(z):
    """You take the scores for weights: sums of powers of z, with no softmax before them.

    Example: z=[0, 0]: you give 0, right is 0.5.
    Why: J = diag(p) - p p^T, and p = softmax(z).
    Look at: the first line of the function.
    """
    x = widen(z)
    with np.errstate(all="ignore"):
        two, three = (x**2).sum(axis=-1), (x**3).sum(axis=-1)
        return root(two - 2 * three + two**2, z)


@wrong_terms("norm-epsilon-under-the-root")
def norm_epsilon(z):
    """You add a small number under the root; a norm of 0 then isn't 0, and small norms are lost in it.

    Example: with 1e-12 and n=1 you give 1e-6, right is 0.
    Why: a sum of squares is never negative; where rounding makes it so, `np.maximum(..., 0)` takes nothing from the rest.
    Look at: the epsilon.
    """
    two, three, _ = sums(z)
    return root(np.maximum(two - 2 * three + two**2, 0) + 1e-12, z)


@wrong_terms("norm-in-float32")
def norm_in_float32(z):
    """You compute in float32 whatever came in: 1e300 is infinite there.

    Example: z=[1e300, 1e300, -1e300] gives NaN, right is 0.5.
    Why: float64 scores ask for float64 arithmetic.
    Look at: every float32 in the function.
    """
    with np.errstate(all="ignore"):
        x = np.asarray(z).astype(np.float32)
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        p = e / e.sum(axis=-1, keepdims=True)
        two, three = (p**2).sum(axis=-1), (p**3).sum(axis=-1)
        return root(two - 2 * three + two**2, z)


@wrong_terms("norm-root-of-one-number")
def norm_math_sqrt(z):
    """You take the root with `math.sqrt` (or make a `float` of the sum), which knows one number alone; a batch of rows fails.

    Example: z of shape (2, 3) must give shape (2,).
    Why: `(..., n)` in, `(...)` out, for any number of leading axes.
    Look at: `np.sqrt`.
    """
    two, three, _ = sums(z)
    squared = np.maximum(two - 2 * three + two**2, 0)
    return narrow(np.asarray(math.sqrt(squared)), z)


@wrong_terms("norm-along-the-first-axis")
def norm_first_axis(z):
    """Your softmax and your sums run along the first axis; a row lies along the last one.

    Example: z of shape (2, 3) gives shape (3,), right is (2,).
    Why: `(..., n)`: the last axis is the one that is summed over.
    Look at: the axis of every sum.
    """
    return narrow(np.asarray(jacobian_norm(np.moveaxis(widen(z), 0, -1))), z)


@wrong_terms("norm-of-the-batch-for-every-row")
def norm_of_batch_everywhere(z):
    """Every row gets the norm of the whole batch: your sums run over all rows before the root is taken.

    Example: z of shape (2, 3) gives the same number twice, the root of the sum of both squared norms.
    Why: every row has a Jacobian of its own.
    Look at: sums without `axis=-1`.
    """
    norms = np.asarray(jacobian_norm(widen(z)))
    return narrow(np.full_like(norms, np.sqrt((norms**2).sum()))[()], z)
