"""What people get wrong in exercise 02 about single entries of the Jacobian, and about where its two axes stand."""

import numpy as np
from attngrade.misconceptions import misconception
from attngrade.solutions.exercise02_softmax_jacobian import narrow, softmax, widen

__all__: list[str] = []  # filled by `wrong_entries`: every misconception below


def wrong_entries(name, **options):
    """A misconception of softmax_jacobian, exported."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="softmax_jacobian", question="softmax-jacobian", **options)(code)

    return mark


def parts(p):
    """The identity and p p^T of every row."""
    return np.eye(p.shape[-1], dtype=p.dtype), p[..., :, None] * p[..., None, :]


def jacobian(p):
    identity, outer = parts(p)
    return p[..., :, None] * identity - outer


@wrong_entries("jacobian-root-on-one-side")
def root_on_one_side(z):
    """You scale the rows by the root of p and not the columns: with s = sqrt(p), J is S (1 - s s^T) S, with S on both sides.

    Example: z=[0, 0]: you give 0.354 on the diagonal, right is 0.25.
    Why: p_i 1[i = j] - p_i p_j = s_i (1[i = j] - s_i s_j) s_j.
    Look at: the factor s_j; J has to be symmetric.
    """
    s = np.sqrt(softmax(widen(z)))
    identity, outer = parts(s)
    return narrow(s[..., :, None] * (identity - outer), z)


@wrong_entries("jacobian-roots-missing")
def roots_missing(z):
    """You return 1 - s s^T with s = sqrt(p), the projection alone; the Jacobian has S on both sides of it.

    Example: z=[0, 0]: you give 0.5 on the diagonal, right is 0.25.
    Why: p_i 1[i = j] - p_i p_j = s_i (1[i = j] - s_i s_j) s_j.
    Look at: the factors s_i and s_j.
    """
    identity, outer = parts(np.sqrt(softmax(widen(z))))
    return narrow(identity - outer, z)


@wrong_entries("jacobian-diagonal-of-squares")
def diagonal_of_squares(z):
    """Your diagonal is p_i**2 - p_i**2 = 0: diag(p**2) stands where diag(p) belongs.

    Example: z=[0, 0]: you give 0 on the diagonal, right is 0.25.
    Why: dp_i / dz_i = p_i (1 - p_i).
    Look at: the first term.
    """
    identity, outer = parts(softmax(widen(z)))
    return narrow(outer * identity - outer, z)


@wrong_entries("jacobian-diagonal-without-p")
def diagonal_without_p(z):
    """You put 1 - p_i on the diagonal; p_i (1 - p_i) belongs there. The entries off the diagonal are right.

    Example: z=[0, 0]: you give 0.5 on the diagonal, right is 0.25.
    Why: dp_i / dz_i = p_i (1 - p_i), so that the rows sum to 0.
    Look at: i = j.
    """
    p = softmax(widen(z))
    identity, outer = parts(p)
    return narrow((1 - p)[..., :, None] * identity - outer * (1 - identity), z)


@wrong_entries("jacobian-every-entry-negative")
def every_entry_negative(z):
    """All your entries are negative, -p_i (1 - p_i) on the diagonal included; the diagonal is positive.

    Example: z=[0, 0]: you give -0.25 everywhere, right is 0.25 on the diagonal.
    Why: a larger score means a larger weight for itself.
    Look at: the sign for i = j.
    """
    return narrow(-np.abs(jacobian(softmax(widen(z)))), z)


@wrong_entries("jacobian-off-diagonal-without-p")
def off_diagonal_without_p(z):
    """Off the diagonal you have -p_j alone; -p_i p_j belongs there.

    Example: z=[0, 0]: you give -0.5 off the diagonal, right is -0.25.
    Why: dp_i / dz_j = p_i (1[i = j] - p_j): the factor p_i stands before the bracket, for every j.
    Look at: the bracket.
    """
    p = softmax(widen(z))
    identity, _ = parts(p)
    return narrow(p[..., :, None] * identity * (1 - p[..., None, :]) - p[..., None, :] * (1 - identity), z)


@wrong_entries("jacobian-denominator-not-squared")
def denominator_not_squared(z):
    """In your quotient rule the denominator isn't squared: off the diagonal you have -e_i e_j / S where -e_i e_j / S**2 is right.

    Example: z=[0, 0]: you give -0.5 off the diagonal, right is -0.25.
    Why: (f / S)' = (f' S - f S') / S**2.
    Look at: the power of the sum of the exponentials.
    """
    x = widen(z)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    sum_ = e.sum(axis=-1, keepdims=True)[..., None]
    identity, outer = parts(e)
    return narrow(e[..., :, None] * identity / sum_ - outer / sum_, z)


@wrong_entries("jacobian-scores-for-weights")
def jacobian_scores_for_weights(z):
    """You take the scores for weights: diag(z) - z z^T, with no softmax before it.

    Example: z=[0, 0]: you give 0 everywhere, right is 0.25 on the diagonal.
    Why: J = diag(p) - p p^T, and p = softmax(z).
    Look at: the first line of the function.
    """
    with np.errstate(all="ignore"):
        return narrow(jacobian(widen(z)), z)


@wrong_entries("jacobian-softmax-twice")
def jacobian_softmax_twice(z):
    """Inside your Jacobian the softmax is applied twice: its weights go through it again as if they were scores.

    Example: z=[0, ln 2]: you give 0.243 on the diagonal, right is 0.222.
    Why: weights lie between 0 and 1, so a second softmax makes them nearly equal.
    Look at: every call of softmax on the way to p.
    """
    return narrow(jacobian(softmax(softmax(widen(z)))), z)


@wrong_entries("jacobian-matrix-axes-in-front")
def matrix_axes_in_front(z):
    """Your two axes of length n stand in front of the leading axes; they come last.

    Example: z of shape (2, 3) gives (3, 3, 2), right is (2, 3, 3).
    Why: `(..., n)` in, `(..., n, n)` out.
    Look at: `np.moveaxis` to the end, or the letters of your einsum.
    """
    return narrow(np.moveaxis(jacobian(softmax(widen(z))), (-2, -1), (0, 1)), z)


@wrong_entries("jacobian-rows-stacked-in-front")
def rows_stacked_in_front(z):
    """You stack the rows (or columns) of J along axis 0, in front of the leading axes; the two axes of J come last.

    Example: z of shape (2, 3) gives (3, 2, 3), right is (2, 3, 3).
    Why: `np.stack` and `np.array` put the new axis first unless told otherwise.
    Look at: `axis=-1` or `axis=-2` in `np.stack`.
    """
    return narrow(np.moveaxis(jacobian(softmax(widen(z))), -1, 0), z)


@wrong_entries("jacobian-outer-products-of-the-batch-summed")
def outer_products_summed(z):
    """You take the outer products of all rows together: p p^T of one row has the sum over the batch in it.

    Example: z of shape (2, 3): both Jacobians lose p p^T of row 0 and of row 1.
    Why: a matrix product of (rows, n) with itself sums over the rows; each row has a Jacobian of its own.
    Look at: `p.T @ p`, `np.outer` and `np.dot` with more than one row; p[..., :, None] * p[..., None, :] keeps them apart.
    """
    p = softmax(widen(z))
    rows = p.reshape(-1, p.shape[-1])
    return narrow(p[..., :, None] * parts(p)[0] - rows.T @ rows, z)


@wrong_entries("jacobian-identity-of-the-first-axis")
def identity_of_the_first_axis(z):
    """Your identity is as large as the first axis of z (`len(z)`, `z.shape[0]`); it has the length of the last one.

    Example: z of shape (2, 3): an identity of 2 x 2 doesn't fit (3, 3).
    Why: with a batch the first axis counts rows.
    Look at: `z.shape[-1]`.
    """
    p = softmax(widen(z))
    return narrow(p[..., :, None] * np.eye(len(p), dtype=p.dtype) - parts(p)[1], z)


@wrong_entries("jacobian-in-float32")
def jacobian_in_float32(z):
    """You compute in float32 whatever came in, which leaves seven digits of float64 scores.

    Example: float64 scores: the result is right to about seven digits.
    Why: float64 scores ask for float64 arithmetic.
    Look at: every float32 in the function, `np.eye(n, dtype=...)` too.
    """
    with np.errstate(all="ignore"):
        return narrow(jacobian(softmax(np.asarray(z).astype(np.float32))), z)


def columns_of_row(z, row):
    """The Jacobian with the weights of one row of the batch along the columns of all."""
    p = softmax(widen(z))
    return narrow(p[..., :, None] * parts(p)[0] - p[..., :, None] * p.reshape(-1, p.shape[-1])[row], z)


@wrong_entries("jacobian-columns-of-the-last-row")
def columns_of_the_last_row(z):
    """You multiply the weights of each row with those of the last row of the batch; the outer product of a row is p p^T, with p twice.

    Example: z of shape (2, 3): the Jacobian of row 0 has p_i q_j in it, with q from row 1, so it isn't symmetric.
    Why: the rows are separate softmaxes, and row b of the batch has a Jacobian of p[b] alone.
    Look at: the second argument of the outer product: a `[-1]`, or a name that still holds the row that a loop saw last.
    """
    return columns_of_row(z, -1)


@wrong_entries("jacobian-columns-of-the-first-row")
def columns_of_the_first_row(z):
    """You multiply the weights of each row with those of the first row of the batch; the outer product of a row is p p^T, with p twice.

    Example: z of shape (2, 3): the Jacobian of row 1 has p_i q_j in it, with q from row 0, so it isn't symmetric.
    Why: the rows are separate softmaxes, and row b of the batch has a Jacobian of p[b] alone.
    Look at: the second argument of the outer product: a `[0]` that takes one row where the loop's own is meant.
    """
    return columns_of_row(z, 0)
