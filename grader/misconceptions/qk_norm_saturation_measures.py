"""What people get wrong in exercise 05: saturation, another measure, another softmax, another form."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.qk_norm_saturation import _frobenius, _jacobian, _probabilities


@misconception("saturation-of-the-diagonal", of="saturation", question="softmax-jacobian")
def saturation_of_the_diagonal(logits):
    """Your saturation only counts the diagonal p_i (1 - p_i); the entries -p_i p_j beside it belong to the norm too.

    Example: p = (0.5, 0.5): right is 0.5, yours is 0.354.
    Why: raising one logit lowers the probability of all others.
    Look at: diag(p) - p p^T as a whole.
    """
    p = _probabilities(logits)
    return (p * (1 - p)).square().sum(-1).sqrt().mean().item()


@misconception("saturation-without-the-outer-product", of="saturation", question="softmax-jacobian")
def saturation_without_the_outer_product(logits):
    """Your Jacobian is diag(p) alone; p p^T is still to be subtracted.

    Example: a one-hot row must give 0, yours gives 1.
    Why: the derivative of the normaliser is what kills the gradient of a saturated row.
    Look at: diag(p) - p p^T.
    """
    return _probabilities(logits).square().sum(-1).sqrt().mean().item()


@misconception("saturation-plus-the-outer-product", of="saturation", question="softmax-jacobian")
def saturation_plus_the_outer_product(logits):
    """Your Jacobian adds p p^T; it is subtracted.

    Example: a one-hot row must give 0, yours gives 2.
    Why: raising one logit lowers the probability of all others.
    Look at: the sign in diag(p) - p p^T.
    """
    p = _probabilities(logits)
    return (torch.diag_embed(p) + p[..., :, None] * p[..., None, :]).square().sum((-2, -1)).sqrt().mean().item()


@misconception("saturation-of-the-outer-product", of="saturation")
def saturation_of_the_outer_product(logits):
    """Your saturation is the norm of p p^T; the Jacobian is diag(p) - p p^T.

    Example: a one-hot row must give 0, yours gives 1.
    Why: the derivative of p_i by its own logit is p_i (1 - p_i).
    Look at: diag(p).
    """
    return _probabilities(logits).square().sum(-1).mean().item()


@misconception("saturation-by-the-trace", of="saturation")
def saturation_by_the_trace(logits):
    """Your saturation is 1 - sum(p^2), the trace of the Jacobian; its Frobenius norm is asked.

    Example: three equal keys: right is 0.471, yours is 0.667.
    Why: the trace only sees the diagonal.
    Look at: the root of the sum of all squared entries.
    """
    return (1 - _probabilities(logits).square().sum(-1)).mean().item()


@misconception("saturation-by-the-largest-eigenvalue", of="saturation")
def saturation_by_the_largest_eigenvalue(logits):
    """Your saturation is the spectral norm of the Jacobian; the Frobenius norm is asked.

    Example: three equal keys: right is 0.471, yours is 0.333.
    Why: the Frobenius norm counts every direction, the spectral norm only the strongest.
    Look at: ord=2 where "fro" belongs.
    """
    return torch.linalg.eigvalsh(_jacobian(_probabilities(logits))).abs().amax(-1).mean().item()


@misconception("saturation-by-absolute-sum", of="saturation")
def saturation_by_absolute_sum(logits):
    """Your saturation adds up the sizes of the Jacobian's entries; the Frobenius norm adds their squares and takes the root.

    Example: p = (0.5, 0.5): right is 0.5, yours is 1.
    Why: the two measures differ by up to the number of keys.
    Look at: abs().sum() where square().sum().sqrt() belongs.
    """
    return _jacobian(_probabilities(logits)).abs().sum((-2, -1)).mean().item()


@misconception("saturation-by-mean-square-entry", of="saturation")
def saturation_by_mean_square_entry(logits):
    """Your saturation averages the squared entries of the Jacobian under the root; the Frobenius norm sums them.

    Example: p = (0.5, 0.5): right is 0.5, yours is 0.25.
    Why: a mean makes the number shrink with the number of keys squared.
    Look at: sum over both axes of the Jacobian, mean only over the rows.
    """
    return _jacobian(_probabilities(logits)).square().mean((-2, -1)).sqrt().mean().item()


@misconception("saturation-by-entropy", of="saturation")
def saturation_by_entropy(logits):
    """Your saturation is the entropy of the rows; the norm of the softmax Jacobian is asked.

    Example: two equal keys: right is 0.5, yours is log(2) = 0.693.
    Why: both fall to 0 for one-hot rows, but only the Jacobian is what the gradient is multiplied by.
    Look at: diag(p) - p p^T.
    """
    p = _probabilities(logits)
    return -(torch.special.xlogy(p, p)).sum(-1).mean().item()


@misconception("saturation-by-the-largest-weight", of="saturation")
def saturation_by_the_largest_weight(logits):
    """Your saturation is the mean of the largest weights; the norm of the softmax Jacobian is asked.

    Example: a one-hot row must give 0, yours gives 1.
    Why: the number shows how much gradient is left.
    Look at: diag(p) - p p^T.
    """
    return _probabilities(logits).amax(-1).mean().item()


@misconception("saturation-by-what-is-left", of="saturation")
def saturation_by_what_is_left(logits):
    """Your saturation is one minus the largest weight; the norm of the softmax Jacobian is asked.

    Example: three equal keys: right is 0.471, yours is 0.667.
    Why: both fall to 0 for one-hot rows, but only the Jacobian is what the gradient is multiplied by.
    Look at: diag(p) - p p^T.
    """
    return (1 - _probabilities(logits).amax(-1)).mean().item()


@misconception("saturation-of-the-log-softmax", of="saturation")
def saturation_of_the_log_softmax(logits):
    """Your Jacobian is that of the log-softmax; the softmax's own is asked.

    Example: a one-hot row must give 0, yours doesn't.
    Why: d log p_i / d z_j = delta_ij - p_j; times p_i it is the softmax's.
    Look at: log_softmax where softmax is meant.
    """
    p = _probabilities(logits)
    return (torch.eye(p.shape[-1], dtype=p.dtype) - p[..., None, :]).square().sum((-2, -1)).sqrt().mean().item()


@misconception("saturation-after-two-softmaxes", of="saturation")
def saturation_after_two_softmaxes(logits):
    """Your saturation takes the softmax of a softmax; the logits go through it once.

    Example: logits (0, 1000) are one-hot, so right is 0; yours is 0.393.
    Why: a second softmax sees numbers between 0 and 1 and makes every row soft.
    Look at: where the softmax is applied.
    """
    return _frobenius(_probabilities(logits).softmax(-1)).mean().item()


@misconception("saturation-scales-the-logits", of="saturation")
def saturation_scales_the_logits(logits):
    """Your saturation divides the logits by a root of their width before the softmax; they are scaled already.

    Example: logits (0, 4): yours looks softer than they are.
    Why: the scale 1 / sqrt(Dh) belongs to the logits' making, and the last axis here counts keys.
    Look at: a division before the softmax.
    """
    return _frobenius(_probabilities(logits / max(1, logits.shape[-1]) ** 0.5 if logits.dim() else logits)).mean().item()


@misconception("saturation-root-of-a-negative-in-float32", of="saturation", extends="saturation-root-of-a-negative")
def saturation_root_of_a_negative_in_float32(logits):
    """Your saturation takes, in float32, the root of a difference that rounding pushes below 0 for nearly one-hot rows: nan, and half of the digits before that.

    Example: a row with a gap of 12: sum(p^2) - 2 sum(p^3) + sum(p^2)^2 may come out as -1e-7.
    Why: the terms are near 1 and cancel; what is left is rounding, 1e-7 in float32.
    Look at: .double() before the softmax, and clamp(min=0) before the root, or build the Jacobian.
    """
    p = _probabilities(logits.float()).float()
    s = p.square().sum(-1)
    return (s - 2 * p.pow(3).sum(-1) + s.square()).sqrt().mean().item()


@misconception("saturation-without-shift", of="saturation")
def saturation_without_shift(logits):
    """Your softmax doesn't subtract the row's maximum, so large logits overflow: exp(800) is inf, and inf/inf nan.

    Example: a row (800, 801): right is 0.393, yours is nan.
    Why: saturation is measured exactly where logits are large.
    Look at: subtract the maximum of each row before exp, or use softmax.
    """
    if logits.dim() == 0:
        raise ValueError("logits has rank 0")
    e = logits.double().exp()
    return _frobenius(e / e.sum(-1, keepdim=True)).mean().item()


@misconception("saturation-with-one-shift", of="saturation")
def saturation_with_one_shift(logits):
    """Your softmax subtracts one maximum for all rows; rows far below it become 0/0 = nan.

    Example: rows (800, 801) and (0, 1): the second is lost.
    Why: each row needs its own maximum: max over the last axis, with keepdim.
    Look at: max() without an axis.
    """
    if logits.dim() == 0:
        raise ValueError("logits has rank 0")
    e = (logits.double() - logits.double().max()).exp()
    return _frobenius(e / e.sum(-1, keepdim=True)).mean().item()


@misconception("saturation-root-of-a-negative", of="saturation")
def saturation_root_of_a_negative(logits):
    """Your saturation takes the root of a difference that rounding pushes below 0 for nearly one-hot rows: nan.

    Example: a row with a gap of 20: sum(p^2) - 2 sum(p^3) + sum(p^2)^2 comes out as about -1e-16.
    Why: the terms are near 1 and cancel; what is left is rounding.
    Look at: clamp(min=0) before the root, or build the Jacobian.
    """
    p = _probabilities(logits)
    s = p.square().sum(-1)
    return (s - 2 * p.pow(3).sum(-1) + s * s).sqrt().mean().item()


@misconception("saturation-in-the-dtype-of-the-logits", of="saturation")
def saturation_in_the_dtype_of_the_logits(logits):
    """Your saturation runs in the dtype of the logits: squares of small probabilities vanish in float16.

    Example: 811 equal float16 logits: each p^2 is 1.5e-6, next to float16's smallest number.
    Why: exponentials, squares and sums belong in float32 at least.
    Look at: logits.float() or .double() before the softmax.
    """
    if logits.dim() == 0:
        raise ValueError("logits has rank 0")
    p = logits.softmax(-1)
    s = p.square().sum(-1)
    return (s - 2 * p.pow(3).sum(-1) + s * s).clamp(min=0).sqrt().mean().item()


@misconception("saturation-float64-through-float32", of="saturation")
def saturation_float64_through_float32(logits):
    """Your saturation converts to float32, so float64 logits lose half of their digits.

    Example: float64 logits: yours agrees with the right number to 7 digits; asked are 9.
    Why: .float() widens float16 and narrows float64.
    Look at: logits.double().
    """
    if logits.dim() == 0:
        raise ValueError("logits has rank 0")
    return _frobenius(logits.float().softmax(-1)).mean().item()


@misconception("saturation-as-a-tensor", of="saturation")
def saturation_as_a_tensor(logits):
    """Your saturation is a tensor; a number is asked, a Python or NumPy float.

    Example: saturation(logits) must be 0.41, not tensor(0.41).
    Why: a number is for looking at; a tensor would keep the graph alive.
    Look at: .item() or float(...) at the end.
    """
    return _frobenius(_probabilities(logits)).mean()


@misconception("saturation-row-by-row", of="saturation")
def saturation_row_by_row(logits):
    """Your saturation returns one number per row; their mean is asked.

    Example: logits (3, 4) must give one float.
    Why: the number sums up all rows, batch and heads included.
    Look at: mean() without an axis, at the end.
    """
    return _frobenius(_probabilities(logits))


@misconception("saturation-in-place", of="saturation")
def saturation_in_place(logits):
    """Your saturation writes into the logits: the caller's tensor is changed by the call.

    Example: after saturation(logits), logits itself is shifted.
    Why: -=, sub_ and exp_ work in place, and .double() of a float64 tensor is that same tensor.
    Look at: operations with an underscore, and augmented assignments.
    """
    if logits.dim() == 0:
        raise ValueError("logits has rank 0")
    z = logits.double()
    z -= z.max(-1, keepdim=True).values
    return _frobenius(_probabilities(z)).mean().item()


@misconception("saturation-in-place-in-every-dtype", of="saturation", extends="saturation-in-place")
def saturation_in_place_in_every_dtype(logits):
    """Your saturation shifts the caller's logits in place, whatever their dtype.

    Example: after saturation(logits), each row of logits has its maximum at 0.
    Why: -= and sub_ write into the argument; z - z.max(...) makes a new tensor.
    Look at: operations with an underscore, and augmented assignments.
    """
    if logits.dim() == 0:
        raise ValueError("logits has rank 0")
    logits -= logits.max(-1, keepdim=True).values
    return _frobenius(_probabilities(logits)).mean().item()


@misconception("saturation-of-a-number", of="saturation")
def saturation_of_a_number(logits):
    """Your saturation accepts logits of rank 0, a single number without a row.

    Example: saturation(torch.tensor(0.5)): asked is a ValueError that names logits.
    Why: there is no axis of keys to take a softmax over.
    Look at: logits.dim() == 0.
    """
    return _frobenius(logits.double().reshape(-1).softmax(-1) if logits.dim() == 0 else _probabilities(logits)).mean().item()


@misconception("saturation-of-four-axes-only", of="saturation")
def saturation_of_four_axes_only(logits):
    """Your saturation only works on logits of rank 4; any rank from 1 on is allowed.

    Example: saturation(torch.zeros(5)) must be 0.4, yours raises an error.
    Why: the rows are everything before the last axis, however many axes that is.
    Look at: B, H, T_q, T_k = logits.shape, or fixed axis numbers.
    """
    if logits.dim() != 4:
        raise ValueError("logits must have rank 4")
    return _frobenius(_probabilities(logits)).mean().item()
