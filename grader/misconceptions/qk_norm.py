"""What people get wrong in exercise 05: what rms_norm keeps and what it refuses; the rest of it, and of the exercise, in the files qk_norm_*."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.qk_norm_bound import *  # noqa: F403
from attngrade.misconceptions.qk_norm_dtypes import *  # noqa: F403
from attngrade.misconceptions.qk_norm_dtypes import memory
from attngrade.misconceptions.qk_norm_eps import *  # noqa: F403
from attngrade.misconceptions.qk_norm_gradients import *  # noqa: F403
from attngrade.misconceptions.qk_norm_logits import *  # noqa: F403
from attngrade.misconceptions.qk_norm_logits_form import *  # noqa: F403
from attngrade.misconceptions.qk_norm_measures import *  # noqa: F403
from attngrade.misconceptions.qk_norm_module import *  # noqa: F403
from attngrade.misconceptions.qk_norm_module_refusals import *  # noqa: F403
from attngrade.misconceptions.qk_norm_parameters import *  # noqa: F403
from attngrade.misconceptions.qk_norm_parts import fitted, mean_square, norm_without_refusals, refuse_misfit, widened
from attngrade.misconceptions.qk_norm_rms import *  # noqa: F403
from attngrade.misconceptions.qk_norm_saturation import *  # noqa: F403
from attngrade.misconceptions.qk_norm_saturation_measures import *  # noqa: F403
from attngrade.solutions.exercise05_qk_norm import rms_norm


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
