"""What people get wrong in exercise 05: what rms_norm divides by, over which axes, and its gain."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.qk_norm_parts import fitted, length_norm, mean_square, norm_over, refuse_misfit, widened
from attngrade.solutions.exercise05_qk_norm import rms_norm


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
