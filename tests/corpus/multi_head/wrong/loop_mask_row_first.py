# mistake: the mask's head axis is read as its batch axis
# names: mask-of-first-head
import math

import torch


def split_heads(x, n_heads):
    if len(x.shape) != 3 or n_heads < 1 or x.shape[-1] % n_heads != 0:
        raise ValueError("split_heads needs x of rank 3 and n_heads >= 1 dividing its last axis")
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


def merge_heads(x):
    if len(x.shape) != 4:
        raise ValueError("merge_heads needs x of rank 4")
    return torch.cat([x[:, h] for h in range(x.shape[1])], dim=-1)


def repeat_kv(x, n_rep):
    if len(x.shape) != 4 or n_rep < 1:
        raise ValueError("repeat_kv needs x of rank 4 and n_rep >= 1")
    return torch.stack([x[:, h // n_rep] for h in range(x.shape[1] * n_rep)], dim=1)


def one_head(q, k, v, visible):
    s = torch.bmm(q, k.mT).div(math.sqrt(q.size(-1)))
    if visible is not None:
        s.masked_fill_(visible.logical_not(), -math.inf)
    return torch.bmm(s.softmax(2), v)


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    kv = n_heads if n_kv_heads is None else n_kv_heads
    if n_heads <= 0:
        raise ValueError("n_heads must be positive")
    if kv <= 0 or n_heads % kv != 0:
        raise ValueError("n_kv_heads must be a positive divisor of n_heads")
    if x.dim() != 3:
        raise ValueError("x must have rank 3")
    for name, w in {"w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o}.items():
        if w.dim() != 2:
            raise ValueError(f"{name} must have rank 2")
    if not (w_q.size(0) == w_k.size(0) == w_v.size(0) == w_o.size(1) == x.size(2)):
        raise ValueError("x, w_q, w_k, w_v and w_o disagree about the model width")
    if w_q.size(1) != w_o.size(0) or w_q.size(1) % n_heads != 0:
        raise ValueError("w_q, w_o and n_heads disagree about the inner width")
    c = w_q.size(1) // n_heads
    if w_k.size(1) != c * kv or w_v.size(1) != c * kv:
        raise ValueError("w_k and w_v must have n_kv_heads * Dh columns")

    half = x.dtype in (torch.float16, torch.bfloat16)
    out_dtype = x.dtype
    if half:
        x, w_q, w_k, w_v, w_o = x.float(), w_q.float(), w_k.float(), w_v.float(), w_o.float()
    visible = None
    if mask is not None:
        shape = (x.size(0), n_heads, x.size(1), x.size(1))
        try:
            visible = torch.broadcast_to(mask, shape)
        except RuntimeError:
            raise ValueError(f"mask must broadcast to {shape}") from None
    heads = []
    for h in range(n_heads):
        g = h // (n_heads // kv)
        q = x @ w_q[:, h * c : (h + 1) * c]
        k = x @ w_k[:, g * c : (g + 1) * c]
        v = x @ w_v[:, g * c : (g + 1) * c]
        heads.append(one_head(q, k, v, None if visible is None else visible[:, 0]))
    return (torch.cat(heads, -1) @ w_o).to(out_dtype)
