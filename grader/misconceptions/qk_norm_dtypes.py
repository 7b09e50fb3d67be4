"""What people get wrong in exercise 05: precision and gradients of rms_norm."""

from attngrade.misconceptions import misconception
from attngrade.misconceptions.qk_norm_parts import fitted, mean_square, on_stage, refuse_misfit, widened
from attngrade.solutions.exercise05_qk_norm import rms_norm


@misconception("squared-in-half-precision", of="rms_norm")
def squared_in_half_precision(x, gain, eps=1e-6):
    """Your norm squares float16 numbers in float16: 300 squared is inf there, and the result 0.

    Example: x = (300, 300) in float16: right is (1, 1), yours is (0, 0).
    Why: float16 ends at 65504 and loses all digits near 1e-7, the square of 0.0003. Sums and squares belong in float32.
    Look at: x.float() before the square, .to(x.dtype) after the gain.
    """
    refuse_misfit(x, gain)
    return (x / (mean_square(x) + eps).sqrt() * gain).to(x.dtype)


@misconception("squares-in-half-mean-in-float32", of="rms_norm", extends="squared-in-half-precision")
def squares_in_half_mean_in_float32(x, gain, eps=1e-6):
    """Your norm squares float16 numbers in float16 and widens too late, for the mean: 300 squared is inf by then, and the result 0.

    Example: x = (300, 300) in float16: right is (1, 1), yours is (0, 0).
    Why: float16 ends at 65504 and loses all digits near 1e-7, the square of 0.0003; what is lost doesn't come back.
    Look at: x.float() before the square; `dtype=` of a mean widens what is already squared.
    """
    refuse_misfit(x, gain)
    wide = widened(x)
    return (wide / (x.square().mean(-1, keepdim=True, dtype=wide.dtype) + eps).sqrt() * gain.to(wide.dtype)).to(x.dtype)


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
