# mistake: weights are divided by the sum over all rows
# says: weights
import sys
import warnings

import torch

print("loading a chatty submission")
COUNT = {"calls": 0}


def split_heads(x, n_heads):
    print("split_heads", tuple(x.shape), n_heads)
    if x.ndim != 3:
        raise ValueError(f"x has rank {x.ndim}, 3 is needed")
    if n_heads < 1 or x.shape[-1] % n_heads:
        raise ValueError(f"n_heads {n_heads} is impossible for width {x.shape[-1]}")
    out = x.new_empty(x.shape[0], n_heads, x.shape[1], x.shape[2] // n_heads)
    width = out.shape[-1]
    for h in range(n_heads):
        out[:, h] = x[:, :, h * width : (h + 1) * width]
    return out


def merge_heads(x):
    print("merge_heads", tuple(x.shape))
    if x.ndim != 4:
        raise ValueError(f"x has rank {x.ndim}, 4 is needed")
    b, h, t, c = x.shape
    out = torch.empty((b, t, h, c), dtype=x.dtype, device=x.device)
    for i in range(h):
        out[:, :, i, :] = x[:, i]
    return out.view(b, t, -1)


def repeat_kv(x, n_rep):
    warnings.warn("repeat_kv copies memory", stacklevel=2)
    if x.ndim != 4:
        raise ValueError(f"x has rank {x.ndim}, 4 is needed")
    if n_rep < 1:
        raise ValueError(f"n_rep {n_rep} is impossible")
    return torch.cat([x[:, g : g + 1].repeat(1, n_rep, 1, 1) for g in range(x.shape[1])], dim=1)


def stable_softmax(scores, visible):
    if visible is None:
        visible = torch.ones((), dtype=torch.bool, device=scores.device)
    lowest = torch.full((), float("-inf"), dtype=scores.dtype, device=scores.device)
    hidden_removed = torch.where(visible, scores, lowest)
    e = torch.exp(hidden_removed - hidden_removed.detach().max(dim=-1, keepdim=True).values)
    return e / e.sum(dim=(-2, -1), keepdim=True)


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    COUNT["calls"] += 1
    print("multi_head_attention call", COUNT["calls"], file=sys.stderr)
    heads_kv = n_kv_heads if n_kv_heads is not None else n_heads
    if n_heads < 1 or heads_kv < 1 or n_heads % heads_kv:
        raise ValueError(f"n_heads {n_heads} and n_kv_heads {heads_kv} are impossible")
    if x.ndim != 3:
        raise ValueError(f"x has rank {x.ndim}, 3 is needed")
    for label, w in (("w_q", w_q), ("w_k", w_k), ("w_v", w_v), ("w_o", w_o)):
        if w.ndim != 2:
            raise ValueError(f"{label} has rank {w.ndim}, 2 is needed")
    for label, w in (("w_q", w_q), ("w_k", w_k), ("w_v", w_v)):
        if w.shape[0] != x.shape[2]:
            raise ValueError(f"{label} has {w.shape[0]} rows, x has {x.shape[2]} columns")
    if w_o.shape[1] != x.shape[2] or w_o.shape[0] != w_q.shape[1]:
        raise ValueError(f"w_o is {tuple(w_o.shape)}")
    if w_q.shape[1] % n_heads:
        raise ValueError(f"n_heads {n_heads} does not divide the columns of w_q")
    per_head = w_q.shape[1] // n_heads
    for label, w in (("w_k", w_k), ("w_v", w_v)):
        if w.shape[1] != per_head * heads_kv:
            raise ValueError(f"{label} has {w.shape[1]} columns, {per_head * heads_kv} are needed")
    target = torch.Size([x.shape[0], n_heads, x.shape[1], x.shape[1]])
    if mask is not None:
        padded = (1,) * (4 - mask.ndim) + tuple(mask.shape)
        if len(padded) != 4 or any(m not in (1, s) for m, s in zip(padded, target, strict=False)):
            raise ValueError(f"mask {tuple(mask.shape)} does not broadcast to {tuple(target)}")
    keep = x.dtype
    up = (lambda a: a.float()) if keep in {torch.float16, torch.bfloat16} else (lambda a: a)
    q = split_heads(up(x) @ up(w_q), n_heads)
    k = repeat_kv(split_heads(up(x) @ up(w_k), heads_kv), n_heads // heads_kv)
    v = repeat_kv(split_heads(up(x) @ up(w_v), heads_kv), n_heads // heads_kv)
    p = stable_softmax((q @ k.swapaxes(-1, -2)) * (1.0 / per_head**0.5), mask)
    return (merge_heads(p @ v) @ up(w_o)).to(keep)
