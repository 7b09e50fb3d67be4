"""Exercise 05, QK-norm: logits that no weight can blow up.

    rms_norm(x)  =  x / sqrt(mean(x**2) + eps) * gain                    mean over the last axis, Dh
    logit        =  rms_norm(q, q_gain) . rms_norm(k, k_gain) / sqrt(Dh)
    saturation   =  mean over rows of || diag(p) - p p^T ||_F            p = softmax(row of logits)

Shapes: x (..., Dh); q (B, H, T_q, Dh); k (B, H, T_k, Dh), T_q and T_k may differ; every gain (Dh,).
Tensors come back differentiable and in the dtype of x (of q and k), with float32 gains too; float16 and
bfloat16 are computed in float32 and cast back once. eps >= 0.

Refuse with a ValueError that names the parameter: a gain whose shape is not (Dh,), one number for all
of Dh included; head_dim below 1; q or k not of rank 4, of another width than the module's or each
other's, or with different heads; x or logits of rank 0.

Off limits: nn.RMSNorm, nn.LayerNorm, F.rms_norm, F.layer_norm, F.normalize, and torch's norms that stand in for
them: group_norm, instance_norm, batch_norm, weight_norm, local_response_norm, CrossMapLRN2d, and their classes.

Check: attngrade check exercise05      Help: attngrade hint exercise05
"""

from torch import nn


def rms_norm(x, gain, eps=1e-6):
    """Bring each vector of x (..., Dh) to a root mean square of 1, then multiply by gain (Dh,)."""
    # TODO: refuse, widen, mean of squares over the last axis, eps, root, gain, cast back.
    raise NotImplementedError("rms_norm is still to be written: divide by the root of the mean square")


class QKNorm(nn.Module):
    """Normalise queries and keys over Dh alone, each with a gain of its own."""

    def __init__(self, head_dim, eps=1e-6):
        """Hold exactly two parameters, q_gain and k_gain, both (head_dim,) and all ones."""
        super().__init__()
        # TODO: refuse, the two gains, remember eps.
        raise NotImplementedError("QKNorm is still to be written: two gains that start as ones")

    def forward(self, q, k):
        """Return the tuple (q_hat, k_hat), shaped like q (B, H, T_q, Dh) and k (B, H, T_k, Dh)."""
        # TODO: refuse, then one norm each.
        raise NotImplementedError("QKNorm.forward is still to be written: norm q with q_gain, k with k_gain")


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    """Return q_hat . k_hat / sqrt(Dh), shaped (B, H, T_q, T_k)."""
    # TODO: refuse, widen, two norms, every query against every key, the scale, cast back.
    raise NotImplementedError("qk_norm_logits is still to be written: norms first, then scaled dot products")


def logit_bound(q_gain, k_gain):
    """Return, as a float, the least upper bound of |logit| over all possible q and k (as eps -> 0)."""
    # TODO: how long is x / rms(x)? which direction makes the weighted dot product largest? mind the signs.
    raise NotImplementedError("logit_bound is still to be written: the largest |logit| that these gains allow")


def saturation(logits):
    """Return, as a float, the mean over all rows (..., T_k) of the Frobenius norm of the softmax Jacobian."""
    # TODO: refuse, softmax each row in a wide dtype, norm of its Jacobian, mean over the rows.
    raise NotImplementedError("saturation is still to be written: near 0 when every softmax is one-hot")
