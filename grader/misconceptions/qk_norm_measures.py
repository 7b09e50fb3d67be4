"""What people get wrong in exercise 05: the order of norm and gain, other measures of size and of saturation, what is written over or kept."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.qk_norm_parts import fitted, length_norm, mean_square, norm, on_stage, refuse_pair, widened
from attngrade.solutions.exercise05_qk_norm import QKNorm, logit_bound, qk_norm_logits, rms_norm, saturation

# ---------------------------------------------------------------- rms_norm


@misconception("eps-divided-by-the-width", of="rms_norm")
def eps_over_the_width(x, gain, eps=1e-6):
    """Your norm adds eps to the sum of squares before the mean is taken, so a part eps / Dh of it arrives.

    Example: x = (0.001, 0.001), eps = 1e-6: right is sqrt(1e-6 + 1e-6) below the fraction, yours is sqrt(1e-6 + 5e-7).
    Why: the formula is mean(x**2) + eps: eps is compared with the mean square, whatever the width.
    Look at: sqrt(sum + eps) / sqrt(Dh), or eps carried along as one more component: it needs the factor Dh.
    """
    return fitted(x, gain, lambda w: w / (mean_square(w) + eps / w.shape[-1]).sqrt() * gain)


@misconception("eps-times-the-width", of="rms_norm")
def eps_times_the_width(x, gain, eps=1e-6):
    """Your norm adds Dh times eps under the root: eps was added to every component's square and summed on the way.

    Example: x = (0.001, 0.001), eps = 1e-6: right is sqrt(1e-6 + 1e-6) below the fraction, yours is sqrt(1e-6 + 2e-6).
    Why: the formula is mean(x**2) + eps, once.
    Look at: which sum the eps goes through, and by what it is divided.
    """
    return fitted(x, gain, lambda w: w / (mean_square(w) + eps * w.shape[-1]).sqrt() * gain)


@misconception("gain-applied-twice", of="rms_norm")
def gain_twice(x, gain, eps=1e-6):
    """Your norm multiplies by the gain twice.

    Example: gain = (2, 2) must double the result, yours is four times as large.
    Why: with the gains of one that a module starts with nobody notices.
    Look at: a gain that is applied before the cast and after it, or in a piece that rms_norm calls as well.
    """
    return fitted(x, gain, lambda w: w / (mean_square(w) + eps).sqrt() * gain * gain)


@misconception("gains-of-zero-refused", of="rms_norm")
def no_zero_gain(x, gain, eps=1e-6):
    """Your norm refuses a gain that isn't positive.

    Example: gain = (0, 1): you raise a ValueError; right is a first component of 0.
    Why: a gain is learned like any other weight; it may be 0 or negative.
    Look at: the refusals: the shape of the gain is all that matters.
    """
    result = rms_norm(x, gain, eps)
    if bool((gain <= 0).any()):
        raise ValueError("gain")
    return result


# ---------------------------------------------------------------- the logits


@misconception("logits-gains-before-the-norm", of="qk_norm_logits")
def gains_first(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits multiply q and k by their gains first and normalise afterwards, so the size of the gains drops out.

    Example: q_gain = (2, 2) must double every logit, yours are unchanged.
    Why: the norm removes any common factor; a gain only acts if it comes after. It is also what lets attention be sharp again.
    Look at: what goes into the norm: q and k as they are.
    """
    refuse_pair(q, k, q_gain, k_gain)
    ones = torch.ones(q.shape[-1], dtype=widened(q).dtype, device=q.device)
    q_hat, k_hat = norm(widened(q) * q_gain, ones, eps), norm(widened(k) * k_gain, ones, eps)
    return (q_hat @ k_hat.mT * q.shape[-1] ** -0.5).to(q.dtype)


def logits_of(sides):
    """The logits of what ``sides`` makes of widened q and k, the gains and eps."""

    def function(q, k, q_gain, k_gain, eps=1e-6):
        refuse_pair(q, k, q_gain, k_gain)
        q_hat, k_hat = sides(widened(q), widened(k), q_gain, k_gain, eps)
        return (q_hat @ k_hat.mT * q.shape[-1] ** -0.5).to(q.dtype)

    return function


def layer(x, gain, eps):
    """The norm of a vector whose mean was subtracted."""
    return norm(x - x.mean(-1, keepdim=True), gain, eps)


@misconception("logits-subtract-the-mean", of="qk_norm_logits")
def logits_centred(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits subtract the mean of every vector before they normalise it: that is a layer norm.

    Example: q = (1, 1): right is q_hat = (1, 1), yours is (0, 0).
    Why: RMS norm changes the length of a vector and never its direction.
    Look at: a mean that is subtracted, or var and std in place of the mean square.
    """
    return logits_of(lambda q, k, a, b, e: (layer(q, a, e), layer(k, b, e)))(q, k, q_gain, k_gain, eps)


@misconception("logits-eps-for-keys-only", of="qk_norm_logits")
def eps_for_keys(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits hand eps on for the keys alone; the queries are normed with the default.

    Example: eps = 0.5: your q_hat is that of eps = 1e-6.
    Why: both sides are normed with the eps that was asked for.
    Look at: the first call of rms_norm.
    """
    return logits_of(lambda q, k, a, b, e: (norm(q, a), norm(k, b, e)))(q, k, q_gain, k_gain, eps)


@misconception("logits-gains-twice", of="qk_norm_logits")
def gains_twice(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits apply the gains twice, inside the norm and once more outside.

    Example: q_gain = (2, 2) must double every logit, yours are four times as large.
    Why: rms_norm multiplies by its gain already.
    Look at: a gain in the product beside a gain in the call.
    """
    return logits_of(lambda q, k, a, b, e: (norm(q, a, e) * a, norm(k, b, e) * b))(q, k, q_gain, k_gain, eps)


@misconception("logits-in-place", of="qk_norm_logits")
def written_over(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits normalise q and k in place: float32 and float64 tensors of the caller's are changed by the call.

    Example: after the call q itself has a root mean square of 1.
    Why: div_ and /= work in place, and .float() of a float32 tensor is that same tensor, not a copy.
    Look at: operations with an underscore, and augmented assignments.
    """
    refuse_pair(q, k, q_gain, k_gain)
    wide = widened(q), widened(k)
    for side in wide:
        side /= (mean_square(side) + eps).sqrt()
    return ((wide[0] * q_gain) @ (wide[1] * k_gain).mT * q.shape[-1] ** -0.5).to(q.dtype)


@misconception("logits-remember-by-shape", of="qk_norm_logits")
def remembered(q, k, q_gain, k_gain, eps=1e-6):
    """Your logits are kept by the shapes of q and k, and old ones are handed out for new values or new gains.

    Example: the same shapes with other numbers: the second result is the first one again.
    Why: a shape says nothing about the numbers.
    Look at: a dict or lru_cache.
    """
    seen = vars(on_stage()).setdefault("logits_seen", {})
    return seen.setdefault((q.shape, k.shape, q.dtype), qk_norm_logits(q, k, q_gain, k_gain, eps))


# ---------------------------------------------------------------- the module


class Doing(QKNorm):
    """The right refusals, and for each side a piece that may be wrong."""

    def forward(self, q, k):
        refuse_pair(q, k, self.q_gain, self.k_gain)
        return self.side(q, self.q_gain), self.side(k, self.k_gain)


@misconception("module-gains-before-the-norm", of="QKNorm")
class GainsFirst(Doing):
    """Your module multiplies by the gains first and normalises afterwards, so the size of the gains drops out.

    Example: load q_gain = 2: right are queries twice as large, yours don't change.
    Why: the norm removes any common factor; a gain only acts if it comes after.
    Look at: what goes into the norm: q and k as they are.
    """

    def side(self, x, gain):
        return norm(widened(x) * gain, torch.ones_like(gain), self.eps).to(x.dtype)


@misconception("module-vectors-of-length-one", of="QKNorm", question="qk-norm")
class UnitLength(Doing):
    """Your module brings vectors to length 1; their root mean square has to be 1, so their length sqrt(Dh).

    Example: Dh = 4, q = (3, 3, 3, 3): right is (1, 1, 1, 1), yours is (0.5, 0.5, 0.5, 0.5).
    Why: with length 1 the logits are cosines over sqrt(Dh), and attention is almost uniform.
    Look at: sum of squares where the mean is asked.
    """

    def side(self, x, gain):
        return length_norm(x, gain, self.eps)


@misconception("module-subtracts-the-mean", of="QKNorm")
class Centred(Doing):
    """Your module subtracts the mean of every vector before it normalises it: that is a layer norm.

    Example: q = (1, 1): right is q_hat = (1, 1), yours is (0, 0).
    Why: RMS norm changes the length of a vector and never its direction.
    Look at: a mean that is subtracted, or var and std in place of the mean square.
    """

    def side(self, x, gain):
        return layer(widened(x), gain, self.eps).to(x.dtype)


@misconception("module-gains-twice", of="QKNorm")
class GainsTwice(Doing):
    """Your module applies its gains twice, inside the norm and once more outside.

    Example: load q_gain = 2: right are queries twice as large, yours are four times as large.
    Why: rms_norm multiplies by its gain already.
    Look at: a gain in forward beside the gain in the call.
    """

    def side(self, x, gain):
        return (norm(x, gain, self.eps) * gain).to(x.dtype)


@misconception("module-scales-the-queries", of="QKNorm")
class ScalesQueries(QKNorm):
    """Your module divides the queries by sqrt(Dh); the scale belongs to the logits, not to the module.

    Example: Dh = 4, gains of one: right are queries with a root mean square of 1, yours have 0.5.
    Why: whoever takes q_hat to attention scales there, once more.
    Look at: a factor Dh ** -0.5 in forward.
    """

    def forward(self, q, k):
        q_hat, k_hat = super().forward(q, k)
        return q_hat * q.shape[-1] ** -0.5, k_hat


@misconception("module-scales-both", of="QKNorm", extends="module-scales-the-queries")
class ScalesBoth(QKNorm):
    """Your module divides queries and keys by the fourth root of Dh; the scale belongs to the logits, not to the module.

    Example: Dh = 16, gains of one: right are vectors with a root mean square of 1, yours have 0.5.
    Why: whoever takes q_hat and k_hat to attention scales there, once more.
    Look at: a factor Dh ** -0.25 in forward.
    """

    def forward(self, q, k):
        return tuple(side * q.shape[-1] ** -0.25 for side in super().forward(q, k))


@misconception("module-in-place", of="QKNorm")
class InPlace(Doing):
    """Your module normalises q and k in place: float32 and float64 tensors of the caller's are changed by the call.

    Example: after the call q itself has a root mean square of 1.
    Why: div_ and /= work in place, and .float() of a float32 tensor is that same tensor, not a copy.
    Look at: operations with an underscore, and augmented assignments.
    """

    def side(self, x, gain):
        wide = widened(x)
        wide /= (mean_square(wide) + self.eps).sqrt()
        return (wide * gain).to(x.dtype)


@misconception("module-puts-tokens-first", of="QKNorm")
class TokensFirst(QKNorm):
    """Your module returns (B, T, H, Dh); it is (B, H, T, Dh), as it came.

    Example: q (2, 3, 5, 4): you return (2, 5, 3, 4).
    Why: a norm over Dh moves no axis.
    Look at: a transpose without its way back.
    """

    def forward(self, q, k):
        return tuple(side.transpose(1, 2) for side in super().forward(q, k))


@misconception("module-eps-for-keys-only", of="QKNorm")
class EpsForKeys(QKNorm):
    """Your module hands its eps on for the keys alone; the queries are normed with the default.

    Example: QKNorm(4, eps=0.5): your q_hat is that of eps = 1e-6.
    Why: one eps for both.
    Look at: the first call of rms_norm.
    """

    def forward(self, q, k):
        refuse_pair(q, k, self.q_gain, self.k_gain)
        return norm(q, self.q_gain), norm(k, self.k_gain, self.eps)


# ---------------------------------------------------------------- the bound


@misconception("bound-by-the-root-of-the-mean-square", of="logit_bound")
def by_the_root_mean_square(q_gain, k_gain):
    """Your bound takes the root mean square of the products of the gains; the largest one decides.

    Example: gains (1, 0) and (1, 0): right is sqrt(2), yours is 1.
    Why: q and k may put all their length on the one component where the product is largest.
    Look at: a norm of the products without the factor that turns it into their maximum.
    """
    logit_bound(q_gain, k_gain)
    return len(q_gain) ** 0.5 * (q_gain.double() * k_gain.double()).square().mean().sqrt().item()


@misconception("bound-by-the-larger-gain-squared", of="logit_bound")
def by_the_larger_gain(q_gain, k_gain):
    """Your bound takes the largest of all gains, squared; both gains belong to one component.

    Example: q_gain = (2, 2), k_gain = (1, 1): right is 2 sqrt(2), yours is 4 sqrt(2).
    Why: the logit is sum q_i k_i q_gain_i k_gain_i / sqrt(Dh), in which each gain appears once.
    Look at: max(q_gain.max(), k_gain.max()) ** 2.
    """
    logit_bound(q_gain, k_gain)
    return len(q_gain) ** 0.5 * max(q_gain.double().abs().max().item(), k_gain.double().abs().max().item()) ** 2


# ---------------------------------------------------------------- saturation


def jacobians(logits):
    """diag(p) - p p^T of every row, and p; what has no axis is refused."""
    saturation(logits)
    p = logits.double().softmax(-1)
    return torch.diag_embed(p) - p[..., :, None] * p[..., None, :], p


@misconception("saturation-off-the-diagonal", of="saturation", question="softmax-jacobian")
def off_the_diagonal(logits):
    """Your saturation leaves the diagonal p_i (1 - p_i) out and counts the entries beside it alone.

    Example: p = (0.5, 0.5): right is 0.5, yours is 0.354.
    Why: a Frobenius norm is the root of the sum of the squares of *all* entries.
    Look at: a mask, `triu` or `tril` on the Jacobian.
    """
    j, p = jacobians(logits)
    return (j - torch.diag_embed(p * (1 - p))).square().sum((-2, -1)).sqrt().mean().item()


@misconception("saturation-by-the-largest-entry", of="saturation")
def largest_entry(logits):
    """Your saturation takes the largest entry of each Jacobian; the Frobenius norm is asked.

    Example: p = (0.5, 0.5): right is 0.5, yours is 0.25.
    Why: the largest entry says little about a row of many keys; the norm is the root of the sum of all squares.
    Look at: `max` or an infinity norm.
    """
    return jacobians(logits)[0].abs().flatten(-2).amax(-1).mean().item()


@misconception("saturation-by-the-spread-of-the-weights", of="saturation")
def by_spread(logits):
    """Your saturation is the standard deviation of the probabilities; the norm of their Jacobian is asked.

    Example: p = (0.5, 0.5): right is 0.5, yours is 0; a one-hot row: right is 0.
    Why: saturation asks how much the softmax still moves when its logits do.
    Look at: `std` or `var` of p.
    """
    return jacobians(logits)[1].std(-1, correction=0).mean().item()


@misconception("saturation-refuses-one-row", of="saturation")
def no_single_row(logits):
    """Your saturation refuses logits of rank 1; a single row is one row.

    Example: logits of shape (4,): you raise a ValueError, and the norm of its Jacobian is asked.
    Why: rows are (..., T_k), and nothing in front is a legal shape in front.
    Look at: the refusal: rank 0 alone is refused.
    """
    if logits.dim() < 2:
        raise ValueError("logits")
    return saturation(logits)


@misconception("saturation-of-the-first-sequence", of="saturation")
def first_sequence(logits):
    """Your saturation looks at the first entry of the first axis alone.

    Example: logits (2, 3, 4, 4): you average over the rows of sequence 0; right are those of both.
    Why: the mean is over all rows.
    Look at: an index [0], or a loop that returns in its first turn.
    """
    return saturation(logits[0] if logits.dim() > 1 else logits)
