"""What people get wrong in exercise 02 about the Jacobian itself."""

import numpy as np
from attngrade.misconceptions import misconception
from attngrade.solutions.exercise02_softmax_jacobian import narrow, softmax, widen

__all__: list[str] = []  # filled by `wrong_jacobian`: every misconception below


def wrong_jacobian(name, **options):
    """A misconception of softmax_jacobian, exported."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="softmax_jacobian", question="softmax-jacobian", **options)(code)

    return mark


def parts(z):
    """p, diag(p) and p p^T of every row."""
    p = softmax(widen(z))
    return p, p[..., :, None] * np.eye(p.shape[-1], dtype=p.dtype), p[..., :, None] * p[..., None, :]


def right(z):
    _, diagonal, outer = parts(z)
    return diagonal - outer


@wrong_jacobian("jacobian-diagonal-of-p-alone")
def jacobian_diagonal_of_p(z):
    """You return diag(p); p p^T has to be taken away from it.

    Example: z=[0, 0]: you give [[0.5, 0], [0, 0.5]], right is [[0.25, -0.25], [-0.25, 0.25]].
    Why: raising z_j raises the sum that every p_i is divided by.
    Look at: the derivative of the denominator.
    """
    return narrow(parts(z)[1], z)


@wrong_jacobian("jacobian-diagonal-without-its-square")
def jacobian_diagonal_without_square(z):
    """You put p_i on the diagonal; p_i (1 - p_i) belongs there. The entries off the diagonal are right.

    Example: z=[0, 0]: you give 0.5 on the diagonal where 0.25 is right, so the rows don't sum to zero.
    Why: p p^T is taken away from diag(p) everywhere, on the diagonal too.
    Look at: i = j: dp_i / dz_i = p_i - p_i**2.
    """
    p, diagonal, outer = parts(z)
    return narrow(diagonal - outer * (1 - np.eye(p.shape[-1], dtype=p.dtype)), z)


@wrong_jacobian("jacobian-diagonal-alone")
def jacobian_diagonal_alone(z):
    """Your Jacobian has p_i (1 - p_i) on the diagonal and 0 elsewhere, as if every weight were a sigmoid of its own score.

    Example: z=[0, 0]: you give 0 where -0.25 is right.
    Why: raising z_j takes weight from all others: dp_i / dz_j = -p_i p_j.
    Look at: i != j.
    """
    p, diagonal, _ = parts(z)
    return narrow(diagonal * (1 - p[..., None]), z)


@wrong_jacobian("jacobian-diagonal-steps-through-the-batch")
def jacobian_diagonal_steps_through_the_batch(z):
    """You step through the flat memory by n + 1 to reach the diagonal; from the second matrix of a batch on that lands beside it.

    Example: z of shape (2, 3): entries 0, 4, 8 are the first diagonal, 12 and 16 lie off the second, which begins at 9.
    Why: one matrix has n * n entries, and after its last diagonal entry the step to the next matrix is 1.
    Look at: `[:: n + 1]` on something flat; `np.arange(n)` twice, or np.einsum("...ii->...i", J), reach the diagonal of every matrix.
    """
    p, _, outer = parts(z)
    matrix = -outer
    diagonal = matrix.reshape(-1)[:: p.shape[-1] + 1]
    diagonal += np.resize(p.reshape(-1), diagonal.size)
    return narrow(matrix, z)


@wrong_jacobian("jacobian-diagonal-as-a-vector")
def jacobian_diagonal_as_vector(z):
    """You return the n numbers p_i (1 - p_i); the Jacobian is an n x n matrix.

    Example: z of shape (3,): you give shape (3,), right is (3, 3).
    Why: every weight depends on every score.
    Look at: J[i, j] for i != j.
    """
    p = softmax(widen(z))
    return narrow(p * (1 - p), z)


@wrong_jacobian("jacobian-off-diagonal-alone")
def jacobian_off_diagonal(z):
    """You return -p p^T; diag(p) is missing.

    Example: z=[0, 0]: you give -0.25 everywhere, right is 0.25 on the diagonal.
    Why: p_i itself grows with z_i: the derivative of the numerator.
    Look at: i = j.
    """
    return narrow(-parts(z)[2], z)


@wrong_jacobian("jacobian-sign-turned")
def jacobian_sign_turned(z):
    """Your Jacobian has the wrong sign: p p^T - diag(p).

    Example: z=[0, 0]: you give -0.25 on the diagonal, right is 0.25.
    Why: a larger score means a larger weight, so the diagonal is positive.
    Look at: which term is taken away from which.
    """
    return narrow(-right(z), z)


@wrong_jacobian("jacobian-off-diagonal-positive")
def jacobian_off_diagonal_positive(z):
    """Off the diagonal your entries are positive: p_i p_j in place of -p_i p_j.

    Example: z=[0, 0]: you give 0.25 everywhere; the rows must sum to 0.
    Why: what one weight gains, the others lose.
    Look at: the sign for i != j.
    """
    return narrow(np.abs(right(z)), z)


@wrong_jacobian("jacobian-terms-added")
def jacobian_terms_added(z):
    """You add p p^T to diag(p); it is taken away.

    Example: z=[0, 0]: you give [[0.75, 0.25], [0.25, 0.75]], right is [[0.25, -0.25], [-0.25, 0.25]].
    Why: raising z_j raises the sum that every p_i is divided by, and that lowers them.
    Look at: the sign between the two terms.
    """
    _, diagonal, outer = parts(z)
    return narrow(diagonal + outer, z)


@wrong_jacobian("jacobian-without-the-delta")
def jacobian_no_delta(z):
    """Your entry is p_i (1 - p_j) everywhere; the 1 is there for i = j alone.

    Example: z=[0, 0]: you give 0.25 everywhere, right is -0.25 off the diagonal.
    Why: dp_i / dz_j = p_i (1[i = j] - p_j).
    Look at: the identity matrix.
    """
    p = softmax(widen(z))
    return narrow(p[..., :, None] * (1 - p[..., None, :]), z)


@wrong_jacobian("jacobian-identity-for-diagonal")
def jacobian_identity_minus(z):
    """You take p p^T away from the identity; diag(p) belongs there.

    Example: z=[0, 0]: you give 0.75 on the diagonal, right is 0.25.
    Why: p_i (1[i = j] - p_j) is p_i on the diagonal before p p^T is taken away.
    Look at: diag(p).
    """
    p, _, outer = parts(z)
    return narrow(np.eye(p.shape[-1], dtype=p.dtype) - outer, z)


@wrong_jacobian("jacobian-of-the-logarithm")
def jacobian_of_the_logarithm(z):
    """You return the Jacobian of log softmax, 1[i = j] - p_j; that of the softmax has the factor p_i.

    Example: z=[0, 0]: you give [[0.5, -0.5], [-0.5, 0.5]], right is half of it.
    Why: dp_i = p_i d(log p_i).
    Look at: the factor p_i in every row.
    """
    p = softmax(widen(z))
    return narrow(np.eye(p.shape[-1], dtype=p.dtype) - p[..., None, :], z)


@wrong_jacobian("jacobian-of-one-long-row")
def jacobian_one_long_row(z):
    """You treat a batch as one long row: the whole array is flattened into one softmax.

    Example: z of shape (2, 3) gives (6, 6), right is (2, 3, 3).
    Why: every row has a softmax and a Jacobian of its own.
    Look at: `np.outer`, `np.diag`, `ravel`: they know of one row alone.
    """
    return narrow(right(widen(z).reshape(-1)), z)


@wrong_jacobian("jacobian-outer-of-the-whole-batch")
def jacobian_outer_of_batch(z):
    """Your weights are right row by row, but diag and the outer product take all rows of a batch for one long vector.

    Example: z of shape (2, 3) gives (6, 6), right is (2, 3, 3).
    Why: `np.outer` and `np.diag` flatten what they get.
    Look at: `p[..., :, None] * p[..., None, :]`.
    """
    p = softmax(widen(z)).reshape(-1)
    outer = np.outer(p, p)
    return narrow(np.diag(p) - outer, z)


@wrong_jacobian("jacobian-leading-axes-flattened")
def jacobian_leading_axes_flattened(z):
    """You flatten the leading axes into one and don't bring them back.

    Example: z of shape (2, 1, 4) gives (2, 4, 4), right is (2, 1, 4, 4).
    Why: `(..., n)` in, `(..., n, n)` out.
    Look at: the reshape after the loop over rows.
    """
    jacobian = right(z)
    return narrow(jacobian.reshape(-1, *jacobian.shape[-2:]) if np.ndim(z) > 1 else jacobian, z)


@wrong_jacobian("jacobian-softmax-along-the-first-axis")
def jacobian_first_axis(z):
    """Your softmax runs along the first axis; the scores of a row lie along the last one.

    Example: in a batch of shape (2, 3) the rows of J don't sum to 0.
    Why: `(..., n)`: the last axis is the one that is summed over.
    Look at: the axis of the softmax.
    """
    p = softmax(widen(z), axis=0)
    return narrow(p[..., :, None] * np.eye(p.shape[-1], dtype=p.dtype) - p[..., :, None] * p[..., None, :], z)


@wrong_jacobian("jacobian-of-one-row-by-diag-and-outer")
def jacobian_diag_outer(z):
    """You take np.outer of the weights from np.diag of them: the Jacobian of one row, and something else for a batch.

    Example: z of shape (2, 3): right is (2, 3, 3); np.diag takes the diagonal of p, and np.outer flattens it to (6, 6).
    Why: both functions know vectors and matrices alone, and a batch of rows is a matrix to them.
    Look at: p[..., :, None] * (np.eye(n) - p[..., None, :]), which works for any number of axes.
    """
    weights = softmax(widen(z))
    pairs = np.outer(weights, weights)
    return narrow(np.diag(weights) - pairs, z)


@wrong_jacobian("jacobian-rows-alone")
def jacobian_vectors_alone(z):
    """You handle one row alone; a batch of rows fails.

    Example: z of shape (2, 3) must give (2, 3, 3).
    Why: `(..., n)` is any number of leading axes.
    Look at: `p[..., :, None] * p[..., None, :]` in place of `np.outer`, and `J[..., i, i]` in place of `np.fill_diagonal`.
    """
    z = np.asarray(z)
    if z.ndim != 1:
        raise ValueError("z must have one axis")
    return narrow(right(z), z)


@wrong_jacobian("jacobian-no-shift")
def jacobian_no_shift(z):
    """Inside your Jacobian exp overflows for large scores: the maximum isn't taken away.

    Example: z=[1000, 1001, 1000.5] gives NaN.
    Why: the Jacobian depends on p alone, and p on differences of scores.
    Look at: your own `softmax`: use it here.
    """
    with np.errstate(all="ignore"):
        e = np.exp(widen(z))
        p = e / e.sum(axis=-1, keepdims=True)
        return narrow(p[..., :, None] * (np.eye(p.shape[-1], dtype=p.dtype) - p[..., None, :]), z)


@wrong_jacobian("jacobian-maximum-of-everything")
def jacobian_global_maximum(z):
    """Inside your Jacobian the maximum of the whole batch is taken away; rows of small scores underflow.

    Example: rows near 1000 and rows near 0 in one batch: the latter give NaN.
    Why: every row needs its own maximum.
    Look at: your own `softmax`: use it here.
    """
    x = widen(z)
    with np.errstate(all="ignore"):
        e = np.exp(x - x.max())
        p = e / e.sum(axis=-1, keepdims=True)
        return narrow(p[..., :, None] * (np.eye(p.shape[-1], dtype=p.dtype) - p[..., None, :]), z)


@wrong_jacobian("jacobian-always-float64")
def jacobian_always_float64(z):
    """You return float64 whatever came in.

    Example: float32 scores give a float64 Jacobian.
    Why: a result has the dtype of its input. `np.eye` and `np.zeros` are float64 unless told otherwise.
    Look at: `.astype(z.dtype)` at the end.
    """
    return right(np.asarray(z, dtype=np.float64))


@wrong_jacobian("jacobian-float16-becomes-float32")
def jacobian_not_cast_back(z):
    """A Jacobian of float16 scores comes back as float32: the result isn't cast back.

    Example: `softmax_jacobian(z).dtype` is float32 for float16 z.
    Why: compute wide, return what came in.
    Look at: `.astype(z.dtype)` at the end.
    """
    return right(widen(z))


@wrong_jacobian("jacobian-in-float16")
def jacobian_in_float16(z):
    """With float16 scores you compute p in float16 and then p - p**2: the difference has lost digits.

    Example: with p near 0.9 the diagonal is off by more than 0.4%.
    Why: p is cast back too early; only J itself is.
    Look at: the dtype of p inside the function.
    """
    p = softmax(z)
    return p[..., :, None] * np.eye(p.shape[-1], dtype=p.dtype) - p[..., :, None] * p[..., None, :]


@wrong_jacobian("jacobian-summed-over-the-batch")
def jacobian_summed(z):
    """You add (or average) the Jacobians of all rows; every row keeps its own.

    Example: z of shape (2, 3) gives (3, 3), right is (2, 3, 3).
    Why: row b of the result belongs to row b of z.
    Look at: the indices of your einsum.
    """
    jacobian = right(z)
    return narrow(jacobian.reshape(-1, *jacobian.shape[-2:]).sum(axis=0), z)


@wrong_jacobian("jacobian-changes-its-argument")
def jacobian_in_place(z):
    """You write into the caller's own array.

    Example: after the call z holds shifted scores.
    Why: no function changes an argument.
    Look at: `z -= ...` or `out=z`.
    """
    result = narrow(right(z), z)
    z -= z.max(axis=-1, keepdims=True)
    return result
