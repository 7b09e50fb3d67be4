"""What people get wrong in exercise 02 about the shared sum of the product: what is in it, what it is multiplied with, in which digits."""

import numpy as np
from attngrade.misconceptions import misconception
from attngrade.misconceptions.softmax_jacobian_vjp import vjp_sum_over_batch
from attngrade.solutions.exercise02_softmax_jacobian import narrow, softmax, widen

__all__: list[str] = []  # filled by `wrong_product`: every misconception below


def wrong_product(name, **options):
    """A misconception of softmax_vjp, exported."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="softmax_vjp", question="softmax-jacobian", **options)(code)

    return mark


def both(z, grad):
    return softmax(widen(z)), widen(grad)


def total(values):
    return values.sum(axis=-1, keepdims=True)


def product(p, grad):
    return p * (grad - total(p * grad))


@wrong_product("vjp-shared-sum-averaged")
def shared_averaged(z, grad):
    """Your shared number is the mean of p * grad; it is the sum (p already is a weight, nothing has to be divided by n).

    Example: z=[0, 0], grad=[1, 0]: you give [0.375, -0.125], right is [0.25, -0.25].
    Why: (p p^T) grad is p times the sum of p_i grad_i.
    Look at: `mean` where `sum` belongs.
    """
    p, grad = both(z, grad)
    return narrow(p * (grad - (p * grad).mean(axis=-1, keepdims=True)), z)


@wrong_product("vjp-shared-sum-weighted-with-squares")
def shared_squares(z, grad):
    """The weights enter your shared sum squared: it is the sum of p * grad, with p once.

    Example: z=[0, 0], grad=[1, 0]: you give [0.375, -0.125], right is [0.25, -0.25].
    Why: entry j is p_j * (grad_j - sum of p_i grad_i).
    Look at: a `p * grad` that is multiplied by p again before it is summed.
    """
    p, grad = both(z, grad)
    return narrow(p * (grad - total(p**2 * grad)), z)


@wrong_product("vjp-outer-factor-squared")
def outer_squared(z, grad):
    """The factor p in front comes twice: you return p**2 * (grad - sum(p * grad)).

    Example: z=[0, 0], grad=[1, 0]: you give [0.125, -0.125], right is [0.25, -0.25].
    Why: entry j is p_j * (grad_j - sum(p * grad)), with p_j once.
    Look at: a bracket that already holds p * grad.
    """
    p, grad = both(z, grad)
    return narrow(p * product(p, grad), z)


@wrong_product("vjp-shared-term-with-p-squared")
def shared_term_squared(z, grad):
    """You multiply the shared sum by p**2; it is multiplied by p once: p * grad - p * sum(p * grad).

    Example: z=[0, ln 2], grad=[1, 0]: you give [0.296, -0.148], right is [0.222, -0.222].
    Why: (p p^T) grad is the vector p times the shared number.
    Look at: the second term.
    """
    p, grad = both(z, grad)
    return narrow(p * grad - p**2 * total(p * grad), z)


def measured_from(place, name, code):
    """A wrong product whose author takes one entry of each row's grad from all of them first, which changes nothing where the rest is right."""

    def centred(z, grad):
        wide = widen(grad)
        return code(z, wide - wide[..., place, None] if wide.shape[-1:] > (0,) else wide)

    centred.__name__, centred.__doc__ = name, code.__doc__
    return centred


@wrong_product("vjp-weights-squared-before-the-sum")
def squares_before_sum(z, grad):
    """Your shared term is p**2 times the plain sum of grad; each weight has to meet its own gradient before anything is summed.

    Example: z=[0, ln 2], grad=[1, 0]: you give [2/9, -4/9], right is [2/9, -2/9].
    Why: (p p^T) grad is the vector p times sum_i p_i grad_i; p_i stays inside the sum.
    Look at: the brackets of the shared sum: (p * grad).sum(), not p * grad.sum().
    """
    p, grad = both(z, grad)
    return narrow(p * grad - p * p * total(grad), z)


squares_from_first = wrong_product("vjp-weights-squared-before-the-sum-from-the-first", extends="vjp-weights-squared-before-the-sum")(
    measured_from(0, "squares_from_first", squares_before_sum))
squares_from_last = wrong_product("vjp-weights-squared-before-the-sum-from-the-last", extends="vjp-weights-squared-before-the-sum")(
    measured_from(-1, "squares_from_last", squares_before_sum))
batch_from_first = wrong_product("vjp-sum-over-the-batch-from-the-first", extends="vjp-sum-over-the-batch")(measured_from(0, "batch_from_first", vjp_sum_over_batch))
batch_from_last = wrong_product("vjp-sum-over-the-batch-from-the-last", extends="vjp-sum-over-the-batch")(measured_from(-1, "batch_from_last", vjp_sum_over_batch))


@wrong_product("vjp-own-entry-counted-twice")
def own_twice(z, grad):
    """You take p * grad away twice: once on the diagonal, p (1 - p), and again in the shared sum, which has every entry in it.

    Example: z=[0, 0], grad=[1, 0]: you give [0, -0.25], right is [0.25, -0.25].
    Why: p_j grad_j - p_j sum(p * grad) is the whole product; the sum runs over i = j as well.
    Look at: p (1 - p) beside a sum over all entries.
    """
    p, grad = both(z, grad)
    return narrow(p * (1 - p) * grad - p * total(p * grad), z)


@wrong_product("vjp-own-entry-left-out")
def own_left_out(z, grad):
    """You leave each entry's own p * grad out of the shared sum and don't have p (1 - p) in the first term: the diagonal is p in your product.

    Example: z=[0, 0], grad=[1, 0]: you give [0.5, -0.25], right is [0.25, -0.25].
    Why: J[j, j] = p_j - p_j**2; without the entry j in the sum the first term has to be p_j (1 - p_j) grad_j.
    Look at: the sum over i != j.
    """
    p, grad = both(z, grad)
    weighted = p * grad
    return narrow(weighted - p * (total(weighted) - weighted), z)


@wrong_product("vjp-shared-term-times-grad")
def shared_times_grad(z, grad):
    """You return p * grad * (1 - sum(p * grad)), as if the sigmoid's rule held for p * grad; the result has to be linear in grad.

    Example: z=[0, 0], grad=[1, 0]: you give [0.25, 0], right is [0.25, -0.25].
    Why: J^T (2 grad) = 2 J^T grad.
    Look at: grad, which comes twice in one term.
    """
    p, grad = both(z, grad)
    return narrow(p * grad * (1 - total(p * grad)), z)


@wrong_product("vjp-scores-for-weights")
def scores_for_weights(z, grad):
    """You take the scores for weights: z * (grad - sum(z * grad)), with no softmax before it.

    Example: z=[0, 0], grad=[1, 0]: you give [0, 0], right is [0.25, -0.25].
    Why: J = diag(p) - p p^T, and p = softmax(z).
    Look at: the first line of the function.
    """
    with np.errstate(all="ignore"):
        return narrow(product(widen(z), widen(grad)), z)


@wrong_product("vjp-softmax-twice")
def softmax_twice(z, grad):
    """Inside your product the softmax is applied twice: its weights go through it again as if they were scores.

    Example: z=[0, ln 2], grad=[1, 0]: you give [0.243, -0.243], right is [0.222, -0.222].
    Why: weights lie between 0 and 1, so a second softmax makes them nearly equal.
    Look at: every call of softmax on the way to p.
    """
    p, grad = both(z, grad)
    return narrow(product(softmax(p), grad), z)


@wrong_product("vjp-arguments-swapped")
def arguments_swapped(z, grad):
    """You take the softmax of grad and multiply with z: the two arguments have changed places.

    Example: z=[0, 0], grad=[1, 0]: you give [0, 0], right is [0.25, -0.25].
    Why: z are the scores, grad is the gradient with respect to the weights.
    Look at: the order of the arguments in the def line or in a call.
    """
    with np.errstate(all="ignore"):
        return narrow(product(*both(grad, z)), z)


@wrong_product("vjp-gradient-centred-afterwards")
def centred_afterwards(z, grad):
    """You return p * grad less its own mean; that makes the sum 0 and isn't the product.

    Example: z=[0, ln 2], grad=[1, 0]: you give [0.167, -0.167], right is [0.222, -0.222].
    Why: what is taken away from entry j is p_j times the shared sum, not the same number everywhere.
    Look at: the second term.
    """
    p, grad = both(z, grad)
    weighted = p * grad
    return narrow(weighted - weighted.mean(axis=-1, keepdims=True), z)


@wrong_product("vjp-divided-by-the-shared-sum")
def divided_by_shared(z, grad):
    """You divide p * grad by the shared sum, as if it were a normaliser; it is taken away, times p.

    Example: z=[0, 0], grad=[1, 0]: you give [1, 0], right is [0.25, -0.25].
    Why: J = diag(p) - p p^T is a difference.
    Look at: a constant grad, which must give 0.
    """
    p, grad = both(z, grad)
    weighted = p * grad
    with np.errstate(all="ignore"):
        return narrow(weighted / total(weighted), z)


@wrong_product("vjp-has-grads-dtype")
def grads_dtype(z, grad):
    """Your result has the dtype of grad; it has that of z.

    Example: z of float32, grad of float64: you give float64.
    Why: it is the gradient with respect to z, so it has z's dtype.
    Look at: the cast at the end.
    """
    return narrow(product(*both(z, grad)), grad)


@wrong_product("vjp-has-the-wider-dtype")
def wider_dtype(z, grad):
    """Your result has the wider one of the two dtypes; it has that of z, whatever grad has.

    Example: z of float32, grad of float64: you give float64.
    Why: it is the gradient with respect to z, so it has z's dtype.
    Look at: `result_type`, or a missing cast at the end.
    """
    return product(*both(z, grad)).astype(np.result_type(z, grad))


@wrong_product("vjp-in-float32")
def in_float32(z, grad):
    """You compute in float32 whatever came in, which leaves seven digits of float64 scores.

    Example: float64 scores and gradients: the result is right to about seven digits.
    Why: float64 arguments ask for float64 arithmetic.
    Look at: every float32 in the function.
    """
    with np.errstate(all="ignore"):
        p, grad = softmax(np.asarray(z).astype(np.float32)), np.asarray(grad).astype(np.float32)
        return narrow(product(p, grad), z)


@wrong_product("vjp-weights-rounded-to-float16")
def weights_rounded(z, grad):
    """With float16 scores your weights are cast back to float16 before they are used: they no longer sum to 1.

    Example: for grad near 100 the weighted mean is off by some hundredths, as much as the result itself.
    Why: p stays in float32 until the result is cast back once.
    Look at: a call of your own softmax with z as it came; widen z first.
    """
    return narrow(product(widen(softmax(z)), widen(grad)), z)


@wrong_product("vjp-in-float16-throughout")
def float16_throughout(z, grad):
    """With float16 scores everything is float16 in between: weights, gradient and shared sum; grad minus its weighted mean loses its digits.

    Example: for grad near 100 float16 has steps of 0.06, and a float32 grad is rounded to them before anything is summed.
    Why: sums run in float32; the result is cast back once, at the end.
    Look at: casts to z.dtype: there is one, in the return line.
    """
    p = softmax(z)
    return product(p, np.asarray(grad).astype(p.dtype))


@wrong_product("vjp-shared-sum-of-the-last-row")
def shared_of_the_last(z, grad):
    """Every row loses the shared sum of the last row of the batch; each has a sum of its own.

    Example: z of shape (2, 3): row 1 is right, and row 0 loses sum(p * grad) of row 1.
    Why: the rows are separate softmaxes.
    Look at: a name that is filled in a loop and used after it.
    """
    p, grad = softmax(widen(z)), widen(grad)
    return narrow(p * (grad - total(p * grad).reshape(-1)[-1]), z)


@wrong_product("vjp-shared-sum-of-the-first-row")
def shared_of_the_first(z, grad):
    """Every row loses the shared sum of the first row of the batch; each has a sum of its own.

    Example: z of shape (2, 3): row 0 is right, and row 1 loses sum(p * grad) of row 0.
    Why: the rows are separate softmaxes.
    Look at: an index `[0]` behind the sum; `axis=-1, keepdims=True` keeps one for every row.
    """
    p, grad = softmax(widen(z)), widen(grad)
    return narrow(p * (grad - total(p * grad).reshape(-1)[0]), z)
