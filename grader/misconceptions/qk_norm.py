"""What people get wrong in exercise 05: the norm. The module, the logits and the two numbers are in the files qk_norm_*."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.qk_norm_logits import *  # noqa: F403
from attngrade.misconceptions.qk_norm_measures import *  # noqa: F403
from attngrade.misconceptions.qk_norm_module import *  # noqa: F403
from attngrade.misconceptions.qk_norm_numbers import *  # noqa: F403
from attngrade.misconceptions.qk_norm_parts import fitted, length_norm, mean_square, norm_over, norm_without_refusals, on_stage, refuse_misfit, widened
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


@misconception("length-instead-of-root-mean-square", of="rms_norm")
def length_instead_of_rootmean_square(x, gain, eps=1e-6):
    """Your norm divides by the length of the vector: you sum the squares where the mean is asked.

    Example: x = (3, 4): yours is (0.6, 0.8), right is (0.849, 1.131), larger by sqrt(Dh).
    Why: RMS norm leaves a vector of length sqrt(Dh). With length 1 on both sides the logits shrink by a factor of Dh.
    Look at: sum(-1) where mean(-1) belongs.
    """
    return length_norm(x, gain, eps)


@misconception("length-plus-eps", of="rms_norm", extends="length-instead-of-root-mean-square")
def length_plus_eps(x, gain, eps=1e-6):
    """Your norm divides by the vector's length plus eps: L2 normalisation where the root of the mean square is asked.

    Example: x = (3, 4): yours is (0.6, 0.8), right is (0.849, 1.131), larger by sqrt(Dh).
    Why: length and root mean square differ by sqrt(Dh), and eps belongs beside the mean square.
    Look at: torch.linalg.norm(x); it is no mean.
    """
    return fitted(x, gain, lambda w: w / (torch.linalg.vector_norm(w, dim=-1, keepdim=True) + eps) * gain)


@misconception("length-with-a-floor", of="rms_norm", extends="length-instead-of-root-mean-square")
def length_with_a_floor(x, gain, eps=1e-6):
    """Your norm divides by max(length, eps), which is what F.normalize does; asked is the root of the mean square plus eps.

    Example: x = (3, 4): yours is (0.6, 0.8), right is (0.849, 1.131), larger by sqrt(Dh).
    Why: length and root mean square differ by sqrt(Dh), and eps is added, not used as a floor.
    Look at: the divisor; it has no mean in it.
    """
    return fitted(x, gain, lambda w: w / torch.linalg.vector_norm(w, dim=-1, keepdim=True).clamp(min=eps) * gain)


@misconception("root-of-dh-doubled", of="rms_norm")
def root_of_dh_doubled(x, gain, eps=1e-6):
    """Your norm multiplies by sqrt(Dh) although the mean already took care of it.

    Example: x = (3, 4): yours is (1.2, 1.6), right is (0.849, 1.131).
    Why: x / length * sqrt(Dh) and x / root-mean-square are the same thing; doing both gives sqrt(Dh) too much.
    Look at: a factor of sqrt(Dh) beside a mean.
    """
    return fitted(x, gain, lambda w: w / (mean_square(w) + eps).sqrt() * w.shape[-1] ** 0.5 * gain)


@misconception("dh-taken-for-64", of="rms_norm")
def dh_taken_for_64(x, gain, eps=1e-6):
    """Your norm divides the sum of squares by 64, whatever the width is.

    Example: x = (3, 4): yours divides 25 by 64, right is by 2.
    Why: Dh is the length of x's last axis, and 64 is only one common choice.
    Look at: a number where x.shape[-1] belongs.
    """
    return fitted(x, gain, lambda w: w / (w.square().sum(-1, keepdim=True) / 64 + eps).sqrt() * gain)


@misconception("keepdim-lost", of="rms_norm")
def keepdim_lost(x, gain, eps=1e-6):
    """Your mean square loses its axis, so the division lines token i up with component i; most shapes end in an error.

    Example: x (2, 5): the mean square has shape (2,), which doesn't fit (2, 5); with (5, 5) the result is silently wrong.
    Why: broadcasting lines axes up from the right, so (T,) is taken for Dh.
    Look at: keepdim=True in the mean.
    """
    return fitted(x, gain, lambda w: w / (w.square().mean(-1) + eps).sqrt() * gain)


@misconception("no-root", of="rms_norm")
def no_root(x, gain, eps=1e-6):
    """Your norm divides by the mean square itself; its square root is missing.

    Example: x = (3, 4): yours is (0.24, 0.32), right is (0.849, 1.131).
    Why: dividing by x squared makes large vectors small; only the root makes the size of x drop out.
    Look at: sqrt, or rsqrt in a product.
    """
    return fitted(x, gain, lambda w: w / (mean_square(w) + eps) * gain)


@misconception("multiplied-by-the-root", of="rms_norm")
def multiplied_by_the_root(x, gain, eps=1e-6):
    """Your norm multiplies by the root of the mean square where it should divide.

    Example: x = (3, 4): yours is (10.6, 14.1), right is (0.849, 1.131).
    Why: the larger the vector, the more it has to be shrunk. `rsqrt` is one over the root: multiply by it, or divide by sqrt.
    Look at: x / rsqrt(...) or x * sqrt(...).
    """
    return fitted(x, gain, lambda w: w * (mean_square(w) + eps).sqrt() * gain)


@misconception("mean-of-absolute-values", of="rms_norm")
def mean_of_absolute_values(x, gain, eps=1e-6):
    """Your norm divides by the mean of |x|, not by the root of the mean of x squared.

    Example: x = (3, 4): yours divides by 3.5, right is 3.5355.
    Why: the two agree only if all components have the same size.
    Look at: abs().mean(-1).
    """
    return fitted(x, gain, lambda w: w / (w.abs().mean(-1, keepdim=True) + eps) * gain)


@misconception("largest-component", of="rms_norm")
def largest_component(x, gain, eps=1e-6):
    """Your norm divides by the largest component, not by the root of the mean square.

    Example: x = (3, 4): yours is (0.75, 1), right is (0.849, 1.131).
    Why: the bound on the logits rests on a fixed length of the vectors, and this fixes only one component.
    Look at: max or amax in the divisor.
    """
    return fitted(x, gain, lambda w: w / (w.abs().amax(-1, keepdim=True) + eps) * gain)


@misconception("layer-norm", of="rms_norm")
def layer_norm(x, gain, eps=1e-6):
    """Your norm subtracts the mean first: that is LayerNorm. RMS norm leaves the mean where it is.

    Example: x = (3, 4): yours is (-1, 1), right is (0.849, 1.131).
    Why: RMS norm only changes a vector's length, never its direction.
    Look at: x - x.mean(-1).
    """

    def centred(w):
        centre = w - w.mean(-1, keepdim=True)
        return centre / (mean_square(centre) + eps).sqrt() * gain

    return fitted(x, gain, centred)


@misconception("variance-instead-of-mean-square", of="rms_norm")
def variance_instead_ofmean_square(x, gain, eps=1e-6):
    """Your norm divides by the standard deviation, which subtracts the mean; asked is the root of the mean square.

    Example: x = (3, 4): the standard deviation is 0.5, the root of the mean square 3.5355.
    Why: var and std measure the distance from the mean; they agree with the mean square only where the mean is 0.
    Look at: var or std in the divisor.
    """
    return fitted(x, gain, lambda w: w / (w.var(-1, correction=0, keepdim=True) + eps).sqrt() * gain)


@misconception("sample-variance", of="rms_norm", extends="variance-instead-of-mean-square")
def sample_variance(x, gain, eps=1e-6):
    """Your norm divides by torch's default standard deviation: it subtracts the mean and divides by Dh - 1.

    Example: x = (3, 4): the sample standard deviation is 0.707, the root of the mean square 3.5355; for Dh = 1 it is nan.
    Why: RMS norm neither subtracts a mean nor corrects for one.
    Look at: var or std in the divisor.
    """
    return fitted(x, gain, lambda w: w / (w.var(-1, keepdim=True) + eps).sqrt() * gain)


@misconception("one-over-dh-minus-one", of="rms_norm")
def one_over_dh_minus_one(x, gain, eps=1e-6):
    """Your mean square divides by Dh - 1; a mean over Dh numbers divides by Dh.

    Example: x = (3, 4): yours takes 25 / 1, right is 25 / 2.
    Why: the correction by one belongs to a variance whose mean was estimated, and no mean is subtracted here.
    Look at: the count that the sum of squares is divided by.
    """
    return fitted(x, gain, lambda w: w / (w.square().sum(-1, keepdim=True) / (w.shape[-1] - 1) + eps).sqrt() * gain)


@misconception("norm-over-everything", of="rms_norm")
def norm_over_everything(x, gain, eps=1e-6):
    """Your norm takes one mean over the whole tensor: every vector is divided by the same number.

    Example: x = ((3, 4), (300, 400)): right is the same row twice, yours has rows of very different size.
    Why: each vector needs a root mean square of its own, else a large token makes the others vanish.
    Look at: mean() without an axis; it is mean(dim=-1, keepdim=True).
    """
    return fitted(x, gain, lambda w: w / (w.square().mean() + eps).sqrt() * gain)


@misconception("norm-over-tokens", of="rms_norm")
def norm_over_tokens(x, gain, eps=1e-6):
    """Your norm averages over the second-last axis (the tokens); it runs over the last one, Dh.

    Example: x = ((3, 4), (300, 400)): right is the same row twice.
    Why: a token's norm must not depend on the other tokens, or the future leaks into the past.
    Look at: the axis of the mean.
    """
    return norm_over(-2)(x, gain, eps)


@misconception("norm-over-axis-1", of="rms_norm")
def norm_over_axis_1(x, gain, eps=1e-6):
    """Your norm averages over axis 1; in (B, H, T, Dh) these are the heads. It runs over the last axis.

    Example: x (B, H, T, Dh) with heads of sizes 1, 100, 1000: right are heads of equal size.
    Why: 1 is the last axis only of a matrix; dim=-1 is the last axis of everything.
    Look at: dim=1.
    """
    return norm_over(1)(x, gain, eps)


@misconception("norm-over-axis-0", of="rms_norm")
def norm_over_axis_0(x, gain, eps=1e-6):
    """Your norm averages over the first axis; it runs over the last one, Dh.

    Example: x = ((3, 4), (300, 400)): right is the same row twice.
    Why: every vector is normalised by itself; other batch rows don't enter.
    Look at: the axis of the mean.
    """
    return norm_over(0)(x, gain, eps)


@misconception("norm-over-tokens-and-width", of="rms_norm")
def norm_over_tokens_and_width(x, gain, eps=1e-6):
    """Your norm averages over the last two axes, tokens and Dh together; it runs over Dh alone.

    Example: x = ((3, 4), (300, 400)): right is the same row twice.
    Why: a token's norm must not depend on the other tokens.
    Look at: dim=(-2, -1).
    """
    return norm_over(-2, -1)(x, gain, eps)


@misconception("norm-over-all-but-the-batch", of="rms_norm")
def norm_over_all_but_the_batch(x, gain, eps=1e-6):
    """Your norm averages over everything but the first axis; it runs over the last axis alone.

    Example: x (B, H, T, Dh) with heads of sizes 1, 100, 1000: right are heads of equal size.
    Why: each (b, h, t) has a vector and a norm of its own.
    Look at: flatten(1) or dim=(1, 2, 3).
    """
    return norm_over(*range(1, max(2, x.dim())))(x, gain, eps)


@misconception("gain-ignored", of="rms_norm")
def gain_ignored(x, gain, eps=1e-6):
    """Your norm never uses the gain.

    Example: gain = (2, 1): the first component must come out twice as large.
    Why: without a gain the model can't choose how sharp its attention gets; the bound on the logits would be fixed at sqrt(Dh).
    Look at: the last factor of the formula.
    """
    return rms_norm(x, torch.ones_like(gain), eps)


@misconception("gain-as-an-offset-from-one", of="rms_norm")
def gain_as_an_offset_from_one(x, gain, eps=1e-6):
    """Your norm multiplies by 1 + gain; here the gain is the multiplier itself.

    Example: gain = 1 must change nothing, yours doubles the result.
    Why: some models store the offset from 1 and start it at 0; the gains here start at 1.
    Look at: (1 + gain).
    """
    return fitted(x, gain, lambda w: w / (mean_square(w) + eps).sqrt() * (1 + gain))


@misconception("gain-before-the-norm", of="rms_norm")
def gain_before_the_norm(x, gain, eps=1e-6):
    """Your norm multiplies by the gain first and normalises afterwards, so the size of the gain drops out.

    Example: gain = (2, 2) must double the result, yours is unchanged.
    Why: the norm removes any common factor; a gain only acts if it comes after.
    Look at: what is squared: x, not x * gain.
    """
    refuse_misfit(x, gain)
    scaled = widened(x) * gain
    return (scaled / (mean_square(scaled) + eps).sqrt()).to(x.dtype)


@misconception("gain-in-absolute-value", of="rms_norm")
def gain_in_absolute_value(x, gain, eps=1e-6):
    """Your norm drops the sign of the gain.

    Example: gain = (-1, 1): the first component must change its sign.
    Why: a gain is learned like any other weight and may turn negative.
    Look at: abs or a square on the gain.
    """
    return rms_norm(x, gain.abs(), eps)


@misconception("gain-added", of="rms_norm")
def gain_added(x, gain, eps=1e-6):
    """Your norm adds the gain; it is a factor.

    Example: x = (3, 4), gain = (1, 1): right is (0.849, 1.131), yours is (1.849, 2.131).
    Why: what is added is a bias, and a bias would break the bound on the logits.
    Look at: the sign before gain.
    """
    return (rms_norm(widened(x), torch.ones_like(gain), eps) + gain).to(x.dtype)


@misconception("gain-divided", of="rms_norm")
def gain_divided(x, gain, eps=1e-6):
    """Your norm divides by the gain; it multiplies.

    Example: gain = (2, 1): the first component must come out twice as large, yours is half as large.
    Why: the gain is the size that a component gets after the norm.
    Look at: where gain stands in the fraction.
    """
    return fitted(x, gain, lambda w: w / (mean_square(w) + eps).sqrt() / gain)


@misconception("squared-in-half-precision", of="rms_norm")
def squared_in_half_precision(x, gain, eps=1e-6):
    """Your norm squares float16 numbers in float16: 300 squared is inf there, and the result 0.

    Example: x = (300, 300) in float16: right is (1, 1), yours is (0, 0).
    Why: float16 ends at 65504 and loses all digits near 1e-7, the square of 0.0003. Sums and squares belong in float32.
    Look at: x.float() before the square, .to(x.dtype) after the gain.
    """
    refuse_misfit(x, gain)
    return (x / (mean_square(x) + eps).sqrt() * gain).to(x.dtype)


@misconception("dtype-of-the-gain", of="rms_norm")
def dtype_of_the_gain(x, gain, eps=1e-6):
    """Your norm doesn't cast back: a float32 gain turns a float16 x into a float32 result.

    Example: x float16, gain float32: right is a float16 result.
    Why: torch promotes to the wider of two dtypes, and the next layer then runs in float32 or raises an error.
    Look at: .to(x.dtype) at the very end, after the gain.
    """
    refuse_misfit(x, gain)
    return (widened(x) / (mean_square(widened(x)) + eps).sqrt()).to(x.dtype) * gain


@misconception("cast-to-the-dtype-of-the-gain", of="rms_norm")
def cast_to_the_dtype_of_the_gain(x, gain, eps=1e-6):
    """Your norm casts its result to the dtype of the gain; it has the dtype of x.

    Example: x float16, gain float32: right is a float16 result.
    Why: the gains of a module usually stay in float32 while the activations run in half precision.
    Look at: the argument of the last .to(...).
    """
    return rms_norm(widened(x), gain, eps).to(gain.dtype)


@misconception("left-in-float32", of="rms_norm")
def left_in_float32(x, gain, eps=1e-6):
    """Your norm goes to float32 and stays there; the result must have the dtype of x.

    Example: x float16: right is a float16 result, yours is float32.
    Why: computing wide is right, handing it on wide is not: the rest of the model runs in the dtype of x.
    Look at: .to(x.dtype) at the very end.
    """
    refuse_misfit(x, gain)
    return widened(x) / (mean_square(widened(x)) + eps).sqrt() * gain


@misconception("left-in-the-wider-dtype", of="rms_norm", extends="left-in-float32")
def left_in_the_wider_dtype(x, gain, eps=1e-6):
    """Your norm brings x and gain to float32 and stays there; the result must have the dtype of x.

    Example: x float16: right is a float16 result, yours is float32.
    Why: computing wide is right, handing it on wide is not: the rest of the model runs in the dtype of x.
    Look at: .to(x.dtype) at the very end.
    """
    refuse_misfit(x, gain)
    return rms_norm(widened(x), gain.to(widened(x).dtype), eps)


@misconception("squared-in-half-and-not-cast-back", of="rms_norm", extends="squared-in-half-precision")
def squared_in_half_and_not_cast_back(x, gain, eps=1e-6):
    """Your norm never looks at dtypes: float16 is squared in float16 (300 gives inf), and a float32 gain makes the result float32.

    Example: x = (300, 300) in float16: right is (1, 1) in float16, yours is (0, 0).
    Why: squares and means belong in float32, the result in the dtype of x.
    Look at: x.float() before the square, .to(x.dtype) after the gain.
    """
    refuse_misfit(x, gain)
    return x / (mean_square(x) + eps).sqrt() * gain


@misconception("float64-through-float32", of="rms_norm")
def float64_through_float32(x, gain, eps=1e-6):
    """Your norm converts to float32 always, so float64 input loses half of its digits.

    Example: x float64: the result agrees with the right one to 7 digits; asked are 9 and more.
    Why: .float() widens float16 and narrows float64.
    Look at: convert only what is narrower than float32, or use torch.promote_types(x.dtype, torch.float32).
    """
    return rms_norm(x.float(), gain.float(), eps).to(x.dtype)


@misconception("float64-comes-back-as-float32", of="rms_norm", extends="float64-through-float32")
def float64_comes_back_as_float32(x, gain, eps=1e-6):
    """Your norm returns float32 whatever it was given.

    Example: x float64 or float16: right is a result of the same dtype.
    Why: .float() at the start has no counterpart at the end.
    Look at: .to(x.dtype) at the very end.
    """
    return rms_norm(x.float(), gain.float(), eps)


@misconception("root-without-gradient", of="rms_norm")
def root_without_gradient(x, gain, eps=1e-6):
    """Your norm cuts the root of the mean square out of the graph: values are right, gradients for x are not.

    Example: the gradient for x must be orthogonal to x when eps = 0, since stretching x changes nothing; yours is not.
    Why: the divisor depends on x as well, and detach or no_grad hides that from autograd.
    Look at: detach(), .data, item() or no_grad around the mean square.
    """
    return fitted(x, gain, lambda w: w / (mean_square(w.detach()) + eps).sqrt() * gain)


@misconception("norm-detached", of="rms_norm")
def norm_detached(x, gain, eps=1e-6):
    """Your norm's result carries no graph, so no gradient reaches x or the gain.

    Example: loss.backward() raises an error or leaves the gradients at None.
    Why: detach, .data, numpy or no_grad end the graph.
    Look at: how the result is made.
    """
    return rms_norm(x, gain, eps).detach()


@misconception("gain-detached", of="rms_norm")
def gain_detached(x, gain, eps=1e-6):
    """No gradient reaches the gain in your norm, so it could never be learned.

    Example: the gradient for gain is None where sum(upstream * x / rms) is right.
    Why: .data, detach or a copy through numpy takes the gain out of the graph.
    Look at: how gain enters the product.
    """
    return rms_norm(x, gain.detach(), eps)


@misconception("norm-in-place", of="rms_norm")
def norm_in_place(x, gain, eps=1e-6):
    """Your norm writes into x: the caller's tensor is changed by the call.

    Example: after y = rms_norm(x, gain), x itself holds normalised numbers.
    Why: mul_, div_ and /= work in place, and .float() of a float32 tensor is that same tensor, not a copy.
    Look at: operations with an underscore, and augmented assignments.
    """
    result = rms_norm(x, gain, eps)
    return x.copy_(result)


@misconception("norm-in-place-before-the-gain", of="rms_norm", extends="norm-in-place")
def norm_in_place_before_the_gain(x, gain, eps=1e-6):
    """Your norm divides x in place: the caller's tensor is changed by the call.

    Example: after y = rms_norm(x, gain), x itself has a root mean square of 1.
    Why: div_ and /= work in place, and .float() of a float32 tensor is that same tensor, not a copy.
    Look at: operations with an underscore, and augmented assignments.
    """
    refuse_misfit(x, gain)
    wide = widened(x)
    wide /= (mean_square(wide) + eps).sqrt()
    return (wide * gain).to(x.dtype)


def memory(key):
    """A place that outlives the calls of one cast."""
    return vars(on_stage()).setdefault(key, {})


@misconception("norm-remembers-its-divisor", of="rms_norm")
def norm_remembers_its_divisor(x, gain, eps=1e-6):
    """Your norm keeps the root mean square by the shape of x and uses it for other values of that shape.

    Example: two different x of shape (2, 5): the second is divided by the first one's roots.
    Why: a shape says nothing about the numbers.
    Look at: a dict, lru_cache or global that outlives the call.
    """
    roots = memory("_roots")
    return fitted(x, gain, lambda w: w * roots.setdefault((w.shape, w.dtype, eps), (mean_square(w) + eps).rsqrt().detach()) * gain)


@misconception("norm-remembers-its-result", of="rms_norm")
def norm_remembers_its_result(x, gain, eps=1e-6):
    """Your norm keeps results by the shape of x and hands them out again for other values.

    Example: two different x of shape (2, 5) give the same result.
    Why: a shape says nothing about the numbers.
    Look at: a dict, lru_cache or global that outlives the call.
    """
    return memory("_results").setdefault((x.shape, x.dtype, eps), rms_norm(x, gain, eps))


@misconception("results-share-a-buffer", of="rms_norm")
def results_share_a_buffer(x, gain, eps=1e-6):
    """Your norm writes every result of one shape into the same buffer, so a later call changes an earlier result.

    Example: a = rms_norm(x, gain); b = rms_norm(y, gain): now a holds the numbers of b.
    Why: the caller keeps results; each must have memory of its own.
    Look at: out=, copy_ into something that outlives the call.
    """
    result = rms_norm(x, gain, eps)
    if result.requires_grad:
        return result
    return memory("_buffers").setdefault((x.shape, x.dtype), torch.empty_like(result)).copy_(result)


@misconception("contiguous-x-only", of="rms_norm")
def contiguous_x_only(x, gain, eps=1e-6):
    """Your norm uses view, which raises an error for tensors that don't lie contiguously in memory.

    Example: q.transpose(1, 2), the usual way to split heads, ends in a RuntimeError.
    Why: view only relabels memory; reshape copies where it has to.
    Look at: view; a mean over the last axis needs no flattening at all.
    """
    refuse_misfit(x, gain)
    return rms_norm(x.view(-1, x.shape[-1]), gain, eps).view(x.shape)


@misconception("gain-of-any-shape", of="rms_norm")
def gain_of_any_shape(x, gain, eps=1e-6):
    """Your norm lets every gain through that broadcasts: one number for all of Dh, or a whole matrix, gives a result that looks fine.

    Example: x (2, 3) and a gain of shape (1,): asked is a ValueError that names gain.
    Why: broadcasting stretches a length of 1, so a gain of the wrong size passes unnoticed.
    Look at: compare gain.shape with x.shape[-1:] before computing.
    """
    return norm_without_refusals(x, gain, eps)


@misconception("gain-of-length-one", of="rms_norm")
def gain_of_length_one(x, gain, eps=1e-6):
    """Your norm accepts a gain of a single number for a wider x; one number per component is asked.

    Example: x (2, 3) and a gain of shape (1,): asked is a ValueError that names gain.
    Why: the gain belongs to Dh components; a single one is a different model.
    Look at: the condition under which you refuse a gain.
    """
    return rms_norm(x, gain.expand(x.shape[-1]), eps) if x.dim() and gain.shape == (1,) else rms_norm(x, gain, eps)


@misconception("gain-judged-by-its-last-axis", of="rms_norm")
def gain_judged_by_its_last_axis(x, gain, eps=1e-6):
    """Your norm only compares the last axis of the gain, so a gain with more axes slips through.

    Example: x (2, 3) and a gain of shape (1, 3) or (2, 3): asked is a ValueError that names gain.
    Why: a gain is (Dh,): one axis, one number per component.
    Look at: compare the whole shape, gain.shape == x.shape[-1:].
    """
    if x.dim() == 0 or gain.dim() == 0 or gain.shape[-1] != x.shape[-1]:
        raise ValueError("gain does not fit x")
    return norm_without_refusals(x, gain, eps)


@misconception("gain-judged-by-its-count", of="rms_norm")
def gain_judged_by_its_count(x, gain, eps=1e-6):
    """Your norm counts the numbers of the gain and doesn't look at its shape, so (1, 3) or (3, 1) passes for (3,).

    Example: x (2, 3) and a gain of shape (1, 3): asked is a ValueError that names gain.
    Why: a gain is (Dh,): one axis, one number per component.
    Look at: compare the whole shape, gain.shape == x.shape[-1:].
    """
    if x.dim() == 0 or gain.numel() != x.shape[-1]:
        raise ValueError("gain does not fit x")
    return norm_without_refusals(x, gain, eps)


@misconception("x-without-axes", of="rms_norm")
def x_without_axes(x, gain, eps=1e-6):
    """Your norm accepts an x of rank 0, a single number without a last axis.

    Example: rms_norm(torch.tensor(2.), gain): asked is a ValueError that names x.
    Why: there is no vector to normalise, and the result would always be plus or minus the gain.
    Look at: x.dim() == 0.
    """
    return rms_norm(x, gain, eps) if x.dim() else (widened(x) / (widened(x) ** 2 + eps).sqrt() * gain).to(x.dtype)


@misconception("x-without-axes-unrefused", of="rms_norm", extends="x-without-axes")
def x_without_axes_unrefused(x, gain, eps=1e-6):
    """Your norm doesn't refuse an x of rank 0; it ends in torch's own IndexError.

    Example: rms_norm(torch.tensor(2.), gain): asked is a ValueError that names x.
    Why: x.shape[-1] and x.size(-1) need an axis.
    Look at: x.dim() == 0, before anything else.
    """
    if x.dim() == 0 and gain.dim() == 1:
        raise IndexError("there is no last axis")
    return rms_norm(x, gain, eps)


@misconception("assert-in-the-norm", of="rms_norm")
def assert_in_the_norm(x, gain, eps=1e-6):
    """Your norm refuses with assert; a ValueError is asked.

    Example: a gain of another length ends in an AssertionError.
    Why: asserts vanish under `python -O`, and callers can't tell a wrong argument from a broken program.
    Look at: assert; write `if ...: raise ValueError("gain ...")`.
    """
    assert x.dim() > 0 and gain.shape == x.shape[-1:]
    return rms_norm(x, gain, eps)
