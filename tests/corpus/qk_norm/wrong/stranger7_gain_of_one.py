# mistake: a gain of length 1 is let through everywhere and broadcast
# names: gain-of-length-one, logits-take-a-gain-of-one, bound-for-a-k-gain-of-one-number
"""Refuses whatever the contract lets it refuse, and says which argument it was."""
import torch
from torch import nn

LAYOUT = ("B", "H", "T", "Dh")
γ = ("q_gain", "k_gain")


def _tensor(**named):
    for name, value in named.items():
        if not isinstance(value, torch.Tensor):
            raise ValueError(f"{name} is no tensor: {type(value).__name__}")


def _gain(name, gain, width):
    _tensor(**{name: gain})
    if gain.dim() != 1:
        raise ValueError(f"{name}: rank 1 expected, rank {gain.dim()} found")
    if gain.shape[0] not in (1, width):
        raise ValueError(f"{name}: {width} gains expected, {gain.shape[0]} found")


def _eps(eps):
    if not eps >= 0:
        raise ValueError(f"eps: {eps} is below 0")


def _pair(q, k, width=None):
    _tensor(q=q, k=k)
    for name, t in zip("qk", (q, k)):
        if t.dim() != len(LAYOUT):
            raise ValueError(f"{name}: axes {LAYOUT} expected, {t.dim()} found")
        if t.numel() == 0:
            raise ValueError(f"{name}: something expected, nothing found")
        if width is not None and t.shape[-1] != width:
            raise ValueError(f"{name}: width {width} expected, {t.shape[-1]} found")
    for axis in (0, 1, 3):
        if q.shape[axis] != k.shape[axis]:
            raise ValueError(f"q and k: {LAYOUT[axis]} is {q.shape[axis]} and {k.shape[axis]}")


def rms_norm(x, gain, eps=1e-6):
    _tensor(x=x)
    if x.dim() == 0:
        raise ValueError("x: at least one axis expected")
    _gain("gain", gain, x.shape[-1])
    _eps(eps)
    match x.dtype:
        case torch.float64:
            work = torch.float64
        case torch.float32 | torch.float16 | torch.bfloat16:
            work = torch.float32
        case other:
            raise ValueError(f"x: a floating dtype expected, {other} found")
    y = x.to(work, copy=True)
    mean_square = (y * y).sum(dim=-1, keepdim=True).div(y.shape[-1])
    return y.div(mean_square.add(eps).sqrt()).mul(gain.to(work)).to(x.dtype)


class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        super().__init__()
        if head_dim < 1:
            raise ValueError(f"head_dim: at least 1 expected, {head_dim} found")
        _eps(eps)
        self.__dict__["settings"] = {"eps": eps, "head_dim": head_dim}
        for name in γ:
            self.register_parameter(name, nn.Parameter(torch.ones((head_dim,))))

    def forward(self, q, k):
        _pair(q, k, self.settings["head_dim"])
        return tuple(rms_norm(t, self.get_parameter(name), **{"eps": self.settings["eps"]}) for t, name in zip((q, k), γ))


def qk_norm_logits(q, k, q_gain, k_gain, eps=1e-6):
    _pair(q, k)
    for name, g in zip(γ, (q_gain, k_gain)):
        _gain(name, g, q.shape[-1])
    _eps(eps)
    work = torch.float64 if q.dtype == torch.float64 else torch.float32
    q_hat, k_hat = (rms_norm(t.to(work), g, eps) for t, g in ((q, q_gain), (k, k_gain)))
    return torch.tensordot(q_hat, k_hat, dims=0).sum() if False else (q_hat @ k_hat.transpose(-2, -1)).mul(q.shape[-1] ** -0.5).to(q.dtype)


def logit_bound(q_gain, k_gain):
    _tensor(q_gain=q_gain)
    if q_gain.dim() != 1 or q_gain.shape[0] == 0:
        raise ValueError("q_gain: a vector with at least one entry expected")
    _gain("k_gain", k_gain, q_gain.shape[0])
    with torch.no_grad():
        return float((q_gain.double() * k_gain.double()).abs().amax() * q_gain.shape[0] ** 0.5)


def saturation(logits):
    _tensor(logits=logits)
    if logits.dim() == 0:
        raise ValueError("logits: at least one axis expected")
    if logits.numel() == 0:
        raise ValueError("logits: at least one entry expected")
    z = logits.detach().double()
    p = (z - z.amax(-1, keepdim=True)).exp()
    p = p / p.sum(-1, keepdim=True)
    top = p.max(-1, keepdim=True)
    rest = p.clone().scatter_(-1, top.indices, 0.0)
    a, r = top.values.squeeze(-1), rest.sum(-1)
    two, three = (rest**2).sum(-1), (rest**3).sum(-1)
    squares = a**2 * (r**2 + 2 * two) + (two - 2 * three + two**2).clamp_min(0.0)
    return torch.sqrt(squares).mean().item()


def main():
    print(logit_bound(torch.ones(64), torch.ones(64)))


if __name__ == "__main__":
    main()
