# mistake: multi_head_attention averages the contributions of the heads instead of summing them
# names: heads-averaged
import torch


def split_heads(x, n_heads):
    if x.ndim != 3:
        raise ValueError(f"x must be (B, T, D), got rank {x.ndim}")
    if n_heads < 1:
        raise ValueError(f"n_heads must be positive, got {n_heads}")
    if x.shape[-1] % n_heads:
        raise ValueError(f"n_heads = {n_heads} doesn't divide the width of x, {x.shape[-1]}")
    return torch.stack(torch.tensor_split(x, n_heads, dim=-1), dim=1)


def merge_heads(x):
    if x.ndim != 4:
        raise ValueError(f"x must be (B, H, T, Dh), got rank {x.ndim}")
    return torch.cat(x.unbind(dim=1), dim=-1)


def repeat_kv(x, n_rep):
    if x.ndim != 4:
        raise ValueError(f"x must be (B, H_kv, T, Dh), got rank {x.ndim}")
    if n_rep < 1:
        raise ValueError(f"n_rep must be positive, got {n_rep}")
    serves = [h // n_rep for h in range(x.shape[1] * n_rep)]
    return x[:, serves]


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    """Every head is a small attention of its own that adds its part to the result (w_o cut into rows, head by head)."""
    if n_kv_heads is None:
        n_kv_heads = n_heads
    if n_heads < 1:
        raise ValueError("n_heads must be positive")
    if n_kv_heads < 1 or n_heads % n_kv_heads:
        raise ValueError("n_kv_heads must divide n_heads")
    if x.ndim != 3:
        raise ValueError("x must be (B, T, D)")
    for name, w in {"w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o}.items():
        if w.ndim != 2:
            raise ValueError(f"{name} must be a matrix")
    batch, tokens, width = x.shape
    if w_q.shape[0] != width or w_q.shape[1] % n_heads:
        raise ValueError(f"w_q {tuple(w_q.shape)} doesn't fit x and n_heads")
    dh = w_q.shape[1] // n_heads
    for name, w in {"w_k": w_k, "w_v": w_v}.items():
        if tuple(w.shape) != (width, n_kv_heads * dh):
            raise ValueError(f"{name} must be {(width, n_kv_heads * dh)}")
    if tuple(w_o.shape) != (n_heads * dh, width):
        raise ValueError(f"w_o must be {(n_heads * dh, width)}")
    if mask is not None:
        try:
            mask = mask.expand(batch, n_heads, tokens, tokens)
        except RuntimeError:
            raise ValueError("mask doesn't broadcast to (B, H, T, T)") from None

    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    xw, w_q, w_k, w_v, w_o = (t.to(wide) for t in (x, w_q, w_k, w_v, w_o))
    group = n_heads // n_kv_heads
    total = torch.zeros_like(xw)
    for h in range(n_heads):
        mine = slice(h * dh, (h + 1) * dh)
        shared = slice(h // group * dh, (h // group + 1) * dh)
        q, k, v = xw @ w_q[:, mine], xw @ w_k[:, shared], xw @ w_v[:, shared]
        scores = (q @ k.mT) * dh**-0.5
        if mask is not None:
            scores = scores.masked_fill(~mask[:, h], float("-inf"))
        total = total + scores.softmax(-1) @ v @ w_o[mine]
    return (total / n_heads).to(x.dtype)
