"""What people get wrong in exercise 05: the eps of rms_norm."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.qk_norm_parts import fitted, mean_square
from attngrade.solutions.exercise05_qk_norm import rms_norm


@misconception("eps-outside-the-root", of="rms_norm")
def eps_outside_the_root(x, gain, eps=1e-6):
    """Your norm adds eps to the root: x / (sqrt(mean(x**2)) + eps). It belongs under the root, to the mean square.

    Example: x of size 0.001 and eps = 1e-6: yours comes out with a root mean square of 0.999, right is about 0.707.
    Why: under the root eps is compared with x squared, so it starts to count at |x| = sqrt(eps) = 0.001, not at 0.000001.
    Look at: which parenthesis closes the square root. At x = 0 the root alone also has an infinite slope.
    """
    return fitted(x, gain, lambda w: w / (mean_square(w).sqrt() + eps) * gain)


@misconception("eps-ignored", of="rms_norm")
def eps_ignored(x, gain, eps=1e-6):
    """Your norm leaves eps out: a zero vector becomes 0/0 = nan, and tiny vectors are blown up to size 1.

    Example: x = (0, 0, 0, 0): yours is nan, right is 0.
    Why: eps is what the division falls back on where the vector is (nearly) zero, such as padding.
    Look at: mean(x**2) + eps, before the root.
    """
    return fitted(x, gain, lambda w: w / mean_square(w).sqrt() * gain)


@misconception("eps-replaced-by-nan-to-num", of="rms_norm", extends="eps-ignored")
def eps_replaced_by_nan_to_num(x, gain, eps=1e-6):
    """Your norm leaves eps out and turns the nan of a zero vector into 0 afterwards; eps also damps small vectors.

    Example: x of size 0.001: yours is blown up to size 1, right is 0.71.
    Why: nan_to_num repairs one value, not the formula, and the gradient at 0 stays nan or 0.
    Look at: nan_to_num, or where(x == 0, ...); add eps under the root.
    """
    return fitted(x, gain, lambda w: torch.nan_to_num(w / mean_square(w).sqrt()) * gain)


@misconception("eps-zero-taken-for-missing", of="rms_norm")
def eps_zero_taken_for_missing(x, gain, eps=1e-6):
    """Your norm treats eps = 0 like no eps at all and puts the default in its place.

    Example: eps=0 and x of size 0.001: right is a root mean square of exactly 1, yours is about 0.7.
    Why: 0 is a legal eps, and it is false in Python: `eps or 1e-6` replaces it.
    Look at: `eps or ...`, or `if eps:`.
    """
    return rms_norm(x, gain, eps or 1e-6)


@misconception("eps-fixed", of="rms_norm")
def eps_fixed(x, gain, eps=1e-6):
    """Your norm always uses 1e-6, whatever eps it is called with.

    Example: x = (1, 1), eps = 0.5: right is 1 / sqrt(1.5) = 0.816, yours is 1.
    Why: the caller chooses eps; a constant in the formula ignores the choice.
    Look at: a literal 1e-6 inside the function's body.
    """
    return rms_norm(x, gain)


@misconception("eps-default-1e-5", of="rms_norm")
def eps_default_1e_5(x, gain, eps=1e-5):
    """Your norm's default eps is 1e-5; the exercise asks for 1e-6.

    Example: x of size 0.001, no eps given: yours has a root mean square of 0.30, right is 0.71.
    Why: 1e-5 is LayerNorm's usual default; where x is small the two differ by a factor.
    Look at: the signature of rms_norm.
    """
    return rms_norm(x, gain, eps)


@misconception("eps-default-1e-8", of="rms_norm")
def eps_default_1e_8(x, gain, eps=1e-8):
    """Your norm's default eps is 1e-8; the exercise asks for 1e-6.

    Example: x of size 0.0001, no eps given: yours has a root mean square of 0.71, right is 0.10.
    Why: the default decides what happens to small vectors, and in float16 1e-8 is simply 0.
    Look at: the signature of rms_norm.
    """
    return rms_norm(x, gain, eps)


@misconception("eps-default-of-the-machine", of="rms_norm")
def eps_default_of_the_machine(x, gain, eps=None):
    """Your norm's default eps is the machine epsilon of x's dtype; the exercise asks for 1e-6.

    Example: float64 x of size 0.001, no eps given: yours has a root mean square of 1, right is 0.71.
    Why: torch's own RMSNorm does so, and then the same numbers give other results in another dtype.
    Look at: torch.finfo(x.dtype).eps.
    """
    return rms_norm(x, gain, torch.finfo(x.dtype).eps if eps is None else eps)


@misconception("eps-squared", of="rms_norm")
def eps_squared(x, gain, eps=1e-6):
    """Your norm adds eps**2 to the mean square; the exercise adds eps itself.

    Example: x of size 0.001: yours has a root mean square of 1, right is 0.71.
    Why: eps already is a mean square here, not a length.
    Look at: what is added before the root.
    """
    return rms_norm(x, gain, eps * eps)


@misconception("eps-as-a-floor", of="rms_norm")
def eps_as_a_floor(x, gain, eps=1e-6):
    """Your norm uses eps as a lower limit of the divisor (max or clamp) where it should be added to the mean square.

    Example: x of size 0.001, eps = 1e-6: yours has a root mean square of 1, right is about 0.71.
    Why: a floor changes nothing until the vector is below it; the sum fades in smoothly.
    Look at: clamp(min=eps) or max(..., eps).
    """
    return fitted(x, gain, lambda w: w / mean_square(w).sqrt().clamp(min=eps) * gain)


@misconception("mean-square-floored-at-eps", of="rms_norm")
def mean_square_floored_at_eps(x, gain, eps=1e-6):
    """Your norm lets the mean square not fall below eps; the exercise adds eps to it.

    Example: x = (1, 1), eps = 0.5: yours is 1, right is 1 / sqrt(1.5) = 0.816.
    Why: max(mean, eps) and mean + eps agree only where one of the two is negligible.
    Look at: clamp(min=eps) under the root.
    """
    return fitted(x, gain, lambda w: w / mean_square(w).clamp(min=eps).sqrt() * gain)


@misconception("eps-beside-rescaled-squares", of="rms_norm")
def eps_beside_rescaled_squares(x, gain, eps=1e-6):
    """Your norm divides x by its largest entry first and adds eps as it is; by then eps is too large or too small by the square of that entry.

    Example: x = (0.001, 0.001), eps = 1e-6: right is 0.707 each, yours is 1.
    Why: x / s has the mean square mean(x**2) / s**2, so eps has to become eps / s**2 as well.
    Look at: what stands beside eps under the root: the mean square of x, or of something that was rescaled. float32 needs no rescaling here.
    """

    def formula(w):
        top = w.detach().abs().amax(-1, keepdim=True)
        rescaled = w / torch.where(top > 0, top, torch.ones_like(top))
        return rescaled / (mean_square(rescaled) + eps).sqrt() * gain

    return fitted(x, gain, formula)
