"""What people get wrong in exercise 05: a backward pass of their own for rms_norm."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.qk_norm_parts import fitted, mean_square


class WithoutGainGoingBack(torch.autograd.Function):
    """x / rms * gain whose backward forgets that the gain stands between."""

    @staticmethod
    def forward(ctx, x, gain, eps):
        root = (mean_square(x) + eps).sqrt()
        ctx.save_for_backward(x, root)
        return x / root * gain

    @staticmethod
    def backward(ctx, up):
        x, root = ctx.saved_tensors
        to_x = up / root - x * (up * x).mean(-1, keepdim=True) / root**3
        return to_x, (up * x / root).reshape(-1, x.shape[-1]).sum(0), None


@misconception("gradient-without-the-gain", of="rms_norm")
def gradient_without_gain(x, gain, eps=1e-6):
    """Your norm's own backward forgets the gain: values are right, the gradient for x is that of a gain of one.

    Example: gain = (2, 2) must double the gradient for x, yours is unchanged.
    Why: result = x_hat * gain, so what comes from above is multiplied by the gain before it goes on to x.
    Look at: the first line of your backward: up * gain.
    """
    return fitted(x, gain, lambda w: WithoutGainGoingBack.apply(w, gain.to(w.dtype), eps))


class OwnBackward(torch.autograd.Function):
    """x over its root mean square, with a gradient of its own: ``along`` makes the part of it that runs along x."""

    @staticmethod
    def forward(ctx, x, eps, along):
        root = (mean_square(x) + eps).sqrt()
        ctx.save_for_backward(x, root)
        ctx.along = along
        return x / root

    @staticmethod
    def backward(ctx, up):
        x, root = ctx.saved_tensors
        return up / root - ctx.along(up, x, root), None, None


def norm_with_backward(x, gain, eps, along):
    return fitted(x, gain, lambda w: OwnBackward.apply(w, eps, along) * gain.to(w.dtype))


@misconception("gradient-summed-where-averaged", of="rms_norm")
def gradient_summed(x, gain, eps=1e-6):
    """Your norm's own backward sums up * x over the vector where the mean belongs: values are right, the gradient for x is not.

    Example: Dh=4: the part along x is four times too large, so the gradient of a vector isn't at right angles to it any more.
    Why: the divisor is the root of a mean, and the derivative of mean(x**2) by x_i is 2 x_i / Dh.
    Look at: the shared number of your backward: mean(up * x), or sum(up * x) / Dh.
    """
    return norm_with_backward(x, gain, eps, lambda up, x, root: x * (up * x).sum(-1, keepdim=True) / root**3)


@misconception("gradient-along-x-unscaled", of="rms_norm")
def gradient_along_x_unscaled(x, gain, eps=1e-6):
    """Your norm's own backward takes x where its normed value belongs: the part along x is divided by the root once, not three times.

    Example: x of size 10: the part that is taken away is a hundred times too large.
    Why: gradient = (up - x_hat * mean(up * x_hat)) / root with x_hat = x / root: one root in front and one in each x_hat.
    Look at: what your backward saved: x, or x / root.
    """
    return norm_with_backward(x, gain, eps, lambda up, x, root: x * (up * x).mean(-1, keepdim=True) / root)


@misconception("gradient-along-x-added", of="rms_norm")
def gradient_along_x_added(x, gain, eps=1e-6):
    """Your norm's own backward adds the part along x; it is taken away.

    Example: Dh=1: right is a gradient of (nearly) 0, yours is twice what came from above over the root.
    Why: a larger x has a larger divisor too, and that lowers the result.
    Look at: the sign before x * mean(up * x) / root**3.
    """
    return norm_with_backward(x, gain, eps, lambda up, x, root: -x * (up * x).mean(-1, keepdim=True) / root**3)
