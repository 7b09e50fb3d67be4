# mistake: causal_mask is wrapped in functools.lru_cache, so two calls with the same sizes hand out the same tensor
# names: mask-shared-between-calls
import functools
import math

import torch

NEG = -math.inf


def _wide(fn):
    """Run fn in float32 (float64 stays) and bring the result back to the dtype of the first argument."""

    @functools.wraps(fn)
    def run(*tensors):
        home = tensors[0].dtype
        lifted = [t.to(torch.promote_types(home, torch.float32)) if t.is_floating_point() else t for t in tensors]
        return fn(*lifted).to(home)

    return run


def _demand(ok, complaint):
    if not ok:
        raise ValueError(complaint)


@functools.lru_cache(maxsize=64)
def causal_mask(t_q, t_k=None, device=None):
    t_k = t_q if t_k is None else t_k
    _demand(t_q >= 0, f"t_q = {t_q} < 0")
    _demand(t_k >= 0, f"t_k = {t_k} < 0")
    query = torch.arange(t_k - t_q, t_k, device=device)
    key = torch.arange(t_k, device=device)
    return torch.ge(query[:, None], key[None, :])


def padding_mask(lengths, t_k):
    _demand(t_k >= 0, f"t_k = {t_k} < 0")
    _demand(lengths.ndim == 1, "lengths must have one axis")
    lengths = lengths[:, None, None, None]
    _demand(bool(torch.all(lengths.ge(0) & lengths.le(t_k))), f"lengths beyond 0..{t_k}")
    return lengths.gt(torch.arange(t_k, device=lengths.device))


def _expanded(mask, scores):
    _demand(isinstance(mask, torch.Tensor) and mask.dtype == torch.bool, "mask must be boolean")
    try:
        shape = torch.broadcast_shapes(mask.shape, scores.shape)
    except RuntimeError:
        shape = None
    _demand(shape == scores.shape, f"mask of shape {list(mask.shape)} for scores of shape {list(scores.shape)}")
    return mask.broadcast_to(scores.shape)


def mask_scores(scores, mask):
    keep = _expanded(mask, scores)
    return scores.masked_fill(keep.logical_not(), NEG)


@_wide
def _weights(scores, keep):
    # p = exp(s - logsumexp(s)); a row that sees nothing gets a finite row of zeros for its logsumexp
    alive = keep.any(dim=-1, keepdim=True)
    s = scores.masked_fill(~keep, NEG).masked_fill(~alive, 0.0)
    s = s - s.detach().amax(dim=-1, keepdim=True)  # keeps the digits of large scores
    log_z = torch.logsumexp(s, dim=-1, keepdim=True)
    return torch.exp(s - log_z).masked_fill(~keep, 0.0)


def masked_softmax(scores, mask):
    return _weights(scores, _expanded(mask, scores))


@_wide
def _attend(q, k, v):
    s = torch.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
    w = masked_softmax(s, causal_mask(q.shape[-2], k.shape[-2], device=q.device))
    return torch.einsum("bhij,bhjd->bhid", w, v)


def causal_attention(q, k, v):
    _demand(q.ndim == 4, "q must be (B, H, T_q, Dh)")
    _demand(k.ndim == 4, "k must be (B, H, T_k, Dh)")
    _demand(v.shape == k.shape, "v must be shaped like k")
    _demand((q.shape[0], q.shape[1], q.shape[3]) == (k.shape[0], k.shape[1], k.shape[3]), "k must fit q")
    return _attend(q, k, v)
