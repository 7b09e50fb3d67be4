"""What people get wrong in exercise 02 about the product with the Jacobian."""

import numpy as np
from attngrade.misconceptions import misconception
from attngrade.solutions.exercise02_softmax_jacobian import narrow, softmax, softmax_jacobian, widen

__all__: list[str] = []  # filled by `wrong_vjp`: every misconception below


def wrong_vjp(name, **options):
    """A misconception of softmax_vjp, exported."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="softmax_vjp", question="softmax-jacobian", **options)(code)

    return mark


def both(z, grad):
    return softmax(widen(z)), widen(grad)


def right(z, grad):
    p, grad = both(z, grad)
    return p * (grad - (p * grad).sum(axis=-1, keepdims=True))


@wrong_vjp("vjp-passes-through")
def vjp_passes_through(z, grad):
    """You return grad unchanged; the softmax has a derivative of its own.

    Example: z=[0, 0], grad=[1, 0]: you give [1, 0], right is [0.25, -0.25].
    Why: p - y needs no further factor only where the softmax is already in the loss; here J^T grad is asked.
    Look at: J = diag(p) - p p^T.
    """
    return np.array(grad)


@wrong_vjp("vjp-first-term-alone")
def vjp_first_term(z, grad):
    """You return p * grad; the shared sum has to be taken away from grad first.

    Example: z=[0, 0], grad=[1, 0]: you give [0.5, 0], right is [0.25, -0.25].
    Why: J = diag(p) - p p^T, and this is the first term alone.
    Look at: a constant grad, which must give 0.
    """
    p, grad = both(z, grad)
    return narrow(p * grad, z)


@wrong_vjp("vjp-second-term-alone")
def vjp_second_term(z, grad):
    """You return -p * sum(p * grad), the second term of the product alone; p * grad is missing.

    Example: z=[0, 0], grad=[1, 0]: you give [-0.25, -0.25], right is [0.25, -0.25].
    Why: J = diag(p) - p p^T has two terms.
    Look at: a constant grad, which must give 0.
    """
    p, grad = both(z, grad)
    return narrow(-p * (p * grad).sum(axis=-1, keepdims=True), z)


@wrong_vjp("vjp-diagonal-alone")
def vjp_diagonal_alone(z, grad):
    """You return p * (1 - p) * grad, as if every weight were a sigmoid of its own score.

    Example: z=[0, 0], grad=[1, 0]: you give [0.25, 0], right is [0.25, -0.25].
    Why: raising z_j changes all weights, not p_j alone.
    Look at: the entries of J off the diagonal.
    """
    p, grad = both(z, grad)
    return narrow(p * (1 - p) * grad, z)


@wrong_vjp("vjp-plain-sum")
def vjp_plain_sum(z, grad):
    """You take away the plain sum of grad; it has to be weighted with p.

    Example: z=[0, 0], grad=[1, 0]: you give [0, -0.5], right is [0.25, -0.25].
    Why: (p p^T) grad is p times the sum of p_i grad_i.
    Look at: a constant grad, which must give 0.
    """
    p, grad = both(z, grad)
    return narrow(p * (grad - grad.sum(axis=-1, keepdims=True)), z)


@wrong_vjp("vjp-plain-mean")
def vjp_plain_mean(z, grad):
    """You take away the plain mean of grad; it has to be the mean weighted with p.

    Example: z=[0, ln 2], grad=[1, 0]: you give [1/6, -1/3], right is [2/9, -2/9].
    Why: (p p^T) grad is p times the sum of p_i grad_i; a plain mean is that for equal weights alone.
    Look at: the sum of the result, which must be 0.
    """
    p, grad = both(z, grad)
    return narrow(p * (grad - grad.mean(axis=-1, keepdims=True)), z)


@wrong_vjp("vjp-outer-factor-missing")
def vjp_no_factor(z, grad):
    """You return grad - sum(p * grad); the factor p in front is missing.

    Example: z=[0, 0], grad=[1, 0]: you give [0.5, -0.5], right is [0.25, -0.25].
    Why: entry j is p_j * (grad_j - sum(p * grad)).
    Look at: entries with p_j near 0, which must be near 0.
    """
    p, grad = both(z, grad)
    return narrow(grad - (p * grad).sum(axis=-1, keepdims=True), z)


@wrong_vjp("vjp-inner-factor-twice")
def vjp_factor_twice(z, grad):
    """The weights enter twice: you return p * (p * grad - sum(p * grad)).

    Example: z=[0, 0], grad=[1, 0]: you give [0, -0.25], right is [0.25, -0.25].
    Why: entry j is p_j * grad_j - p_j * sum(p * grad): one p_j in each term.
    Look at: the bracket.
    """
    p, grad = both(z, grad)
    weighted = p * grad
    return narrow(p * (weighted - weighted.sum(axis=-1, keepdims=True)), z)


@wrong_vjp("vjp-shared-term-without-p")
def vjp_shared_without_p(z, grad):
    """You take the shared sum away without its factor p: p * grad - sum(p * grad).

    Example: z=[0, 0], grad=[1, 0]: you give [0, -0.5], right is [0.25, -0.25].
    Why: (p p^T) grad is the vector p times the shared number.
    Look at: the brackets.
    """
    p, grad = both(z, grad)
    weighted = p * grad
    return narrow(weighted - weighted.sum(axis=-1, keepdims=True), z)


@wrong_vjp("vjp-sign-turned")
def vjp_sign_turned(z, grad):
    """Your result has the wrong sign.

    Example: z=[0, 0], grad=[1, 0]: you give [-0.25, 0.25], right is [0.25, -0.25].
    Why: a larger score means a larger weight, so the diagonal of J is positive.
    Look at: the order of the difference.
    """
    return narrow(-right(z, grad), z)


@wrong_vjp("vjp-shared-term-added")
def vjp_shared_added(z, grad):
    """You add the shared sum; it is taken away.

    Example: z=[0, 0], grad=[1, 0]: you give [0.75, 0.25], right is [0.25, -0.25].
    Why: J = diag(p) - p p^T.
    Look at: a constant grad, which must give 0.
    """
    p, grad = both(z, grad)
    return narrow(p * (grad + (p * grad).sum(axis=-1, keepdims=True)), z)


@wrong_vjp("vjp-of-the-logarithm")
def vjp_of_the_logarithm(z, grad):
    """You return the product for log softmax, grad - p * sum(grad).

    Example: z=[0, 0], grad=[1, 0]: you give [0.5, -0.5], right is [0.25, -0.25].
    Why: log softmax and softmax have different Jacobians; this one is diag(p) - p p^T.
    Look at: which sum is shared, and where p stands.
    """
    p, grad = both(z, grad)
    return narrow(grad - p * grad.sum(axis=-1, keepdims=True), z)


@wrong_vjp("vjp-of-cross-entropy")
def vjp_cross_entropy(z, grad):
    """You return p - grad, the gradient of a cross-entropy with target grad; J^T grad is asked.

    Example: z=[0, 0], grad=[1, 0]: you give [-0.5, 0.5], right is [0.25, -0.25].
    Why: p - y is what the chain rule makes of softmax and cross-entropy together.
    Look at: whether your result is linear in grad: twice the grad, twice the result.
    """
    p, grad = both(z, grad)
    return narrow(p - grad, z)


@wrong_vjp("vjp-of-cross-entropy-negative", extends="vjp-of-cross-entropy")
def vjp_negative_cross_entropy(z, grad):
    """You return grad - p, the gradient of a log-likelihood with target grad; J^T grad is asked.

    Example: z=[0, 0], grad=[1, 0]: you give [0.5, -0.5], right is [0.25, -0.25].
    Why: y - p is what the chain rule makes of softmax and log-likelihood together.
    Look at: whether your result is linear in grad: twice the grad, twice the result.
    """
    p, grad = both(z, grad)
    return narrow(grad - p, z)


@wrong_vjp("vjp-builds-the-jacobian")
def vjp_builds(z, grad):
    """You build the n x n Jacobian; for n = 100,000 it has 80 GB.

    Example: n=3000 already takes 72 MB for an array that is used once.
    Why: all entries of the result share one sum, which takes memory linear in n.
    Look at: J^T grad written out for one entry: p_j * (grad_j - sum(p * grad)).
    """
    jacobian = softmax_jacobian(widen(z))
    return narrow((np.swapaxes(jacobian, -1, -2) @ widen(grad)[..., None])[..., 0], z)


@wrong_vjp("vjp-lost-axis")
def vjp_lost_axis(z, grad):
    """Your shared sum loses its axis and is broadcast along the wrong one (keepdims).

    Example: for shape (3, 3) row i gets the sum of row j; other shapes don't fit at all.
    Why: NumPy lines shapes up from the right, so (3,) meets the columns; a matrix product `p @ grad.T` mixes the rows as well.
    Look at: `keepdims=True`.
    """
    p, grad = both(z, grad)
    return narrow(p * (grad - (p * grad).sum(axis=-1)), z)


@wrong_vjp("vjp-sum-over-the-batch")
def vjp_sum_over_batch(z, grad):
    """Your shared sum runs over the whole array; every row has its own.

    Example: in a batch of shape (2, 3) each row reacts to the gradient of the other.
    Why: the rows are separate softmaxes.
    Look at: `axis=-1, keepdims=True`; `np.sum`, `np.dot` and `np.vdot` without an axis take everything.
    """
    p, grad = both(z, grad)
    return narrow(p * (grad - (p * grad).sum()), z)


@wrong_vjp("vjp-sum-along-the-first-axis")
def vjp_first_axis(z, grad):
    """Your shared sum runs along the first axis; a row lies along the last one.

    Example: in a batch of shape (2, 3) each row reacts to the gradient of the other.
    Why: `(..., n)`: the last axis is the one that is summed over.
    Look at: the axis of the sum.
    """
    p, grad = both(z, grad)
    return narrow(p * (grad - (p * grad).sum(axis=0, keepdims=True)), z)


@wrong_vjp("vjp-rows-alone")
def vjp_vectors_alone(z, grad):
    """You handle one row alone; a batch of rows fails.

    Example: z and grad of shape (2, 3) must give (2, 3).
    Why: `(..., n)` is any number of leading axes.
    Look at: `axis=-1, keepdims=True` in place of `np.dot`.
    """
    if np.ndim(z) != 1:
        raise ValueError("z must have one axis")
    return narrow(right(z, grad), z)


@wrong_vjp("vjp-no-shift")
def vjp_no_shift(z, grad):
    """Inside your product exp overflows for large scores: the maximum isn't taken away.

    Example: z=[1000, 1001, 1000.5] gives NaN.
    Why: the result depends on p alone, and p on differences of scores.
    Look at: your own `softmax`: use it here.
    """
    with np.errstate(all="ignore"):
        e = np.exp(widen(z))
        p = e / e.sum(axis=-1, keepdims=True)
        grad = widen(grad)
        return narrow(p * (grad - (p * grad).sum(axis=-1, keepdims=True)), z)


@wrong_vjp("vjp-maximum-of-everything")
def vjp_global_maximum(z, grad):
    """Inside your product the maximum of the whole batch is taken away; rows of small scores underflow.

    Example: rows near 1000 and rows near 0 in one batch: the latter give NaN.
    Why: every row needs its own maximum.
    Look at: your own `softmax`: use it here.
    """
    x, grad = widen(z), widen(grad)
    with np.errstate(all="ignore"):
        e = np.exp(x - x.max())
        p = e / e.sum(axis=-1, keepdims=True)
        return narrow(p * (grad - (p * grad).sum(axis=-1, keepdims=True)), z)


@wrong_vjp("vjp-always-float64")
def vjp_always_float64(z, grad):
    """You return float64 whatever came in.

    Example: float32 scores and gradients give a float64 result.
    Why: a result has the dtype of its input.
    Look at: `.astype(z.dtype)` at the end.
    """
    return right(np.asarray(z, dtype=np.float64), np.asarray(grad, dtype=np.float64))


@wrong_vjp("vjp-float16-becomes-float32")
def vjp_not_cast_back(z, grad):
    """A float16 product comes back as float32: the result isn't cast back.

    Example: `softmax_vjp(z, grad).dtype` is float32 for float16 z.
    Why: compute wide, return what came in.
    Look at: `.astype(z.dtype)` at the end.
    """
    return right(z, grad)


@wrong_vjp("vjp-in-float16")
def vjp_in_float16(z, grad):
    """With float16 scores you subtract in float16: grad minus its weighted mean loses its digits.

    Example: for grad near 100 float16 has steps of 0.06.
    Why: sums run in float32; the result is cast back once.
    Look at: the dtype of p and grad inside the function.
    """
    p, grad = softmax(z), np.asarray(grad)
    return p * (grad - (p * grad).sum(axis=-1, keepdims=True))


@wrong_vjp("vjp-changes-its-argument")
def vjp_in_place(z, grad):
    """You write into the caller's grad.

    Example: after the call grad has lost its weighted mean.
    Why: no function changes an argument.
    Look at: `grad -= ...` or `grad *= ...`.
    """
    p = softmax(z)
    grad -= (p * grad).sum(axis=-1, keepdims=True)
    return p * grad
