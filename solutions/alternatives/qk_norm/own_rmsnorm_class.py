"""A class of its own that happens to be called RMSNorm, and helpers called normalize and layer_norm that are not the library's."""

import torch


class RMSNorm:
    def __init__(self, gain, eps):
        self.gain = gain
        self.eps = eps

    def normalize(self, x):
        mean_square = torch.mean(x**2, -1, keepdim=True)
        return x * torch.rsqrt(mean_square + self.eps)

    def __call__(self, x):
        accurate = x.double() if x.dtype == torch.float64 else x.float()
        return self.normalize(accurate) * self.gain


def rms_norm(x, gain, eps=1e-6):
    if x.dim() == 0 or gain.shape != torch.Size([x.shape[-1]]):
        raise ValueError(f"gain {tuple(gain.shape)} does not fit x {tuple(x.shape)}")
    return RMSNorm(gain, eps)(x).type_as(x)


class QKNorm(torch.nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        if head_dim <= 0:
            raise ValueError("head_dim: " + str(head_dim))
        super().__init__()
        for name in ["k_gain", "q_gain"]:
            self.register_parameter(name, torch.nn.Parameter(torch.ones(head_dim)))
        self.eps = eps

    def forward(self, q, k):
        layer_norm = rms_norm
        check_shapes(q, k, self.q_gain)
        return layer_norm(q, self.q_gain, eps=self.eps), layer_norm(k, self.k_gain, eps=self.eps)


def check_shapes(q, k, gain):
    if len(q.shape) != 4 or len(k.shape) != 4:
        raise ValueError("q and k must be of rank 4")
    if q.shape[1] != k.shape[1]:
        raise ValueError("q and k must have the same number of heads")
    if not q.shape[-1] == k.shape[-1] == gain.numel():
        raise ValueError("q, k and q_gain must have the same width")


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    check_shapes(q, k, q_gain)
    if q_gain.dim() != 1 or k_gain.shape != q_gain.shape:
        raise ValueError("q_gain and k_gain must be vectors of width Dh")
    query_norm, key_norm = RMSNorm(q_gain, eps), RMSNorm(k_gain, eps)
    scores = torch.einsum("bhid,bhjd->bhij", query_norm(q), key_norm(k))
    return (scores / q.shape[-1] ** 0.5).type_as(q)


def logit_bound(q_gain, k_gain):
    if q_gain.dim() != 1 or q_gain.shape != k_gain.shape:
        raise ValueError("q_gain and k_gain: one vector each, equally long")
    return max(abs(float(a) * float(b)) for a, b in zip(q_gain, k_gain)) * len(q_gain) ** 0.5


def saturation(logits):
    if logits.dim() < 1:
        raise ValueError("logits must have an axis of keys")
    z = logits.double()
    e = torch.exp(z - z.max(dim=-1, keepdim=True).values)
    p = e / e.sum(-1, keepdim=True)
    # row i of the Jacobian: p_i (1 - p_i) on the diagonal, -p_i p_j beside it
    own = (p * (1 - p)) ** 2
    others = p**2 * ((p**2).sum(-1, keepdim=True) - p**2)
    return (own + others.clamp_min(0)).sum(-1).sqrt().mean().item()
