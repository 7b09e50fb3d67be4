# mistake: a mask that does not fit ends in a RuntimeError
# names: mask-misfit-runtime-error
import torch
import torch.nn.functional as F


def split_heads(x, n_heads):
    if x.dim() != 3 or n_heads < 1 or x.shape[2] % n_heads:
        raise ValueError(f"x {list(x.shape)} cannot be split into n_heads={n_heads}")
    return x.view(x.shape[0], x.shape[1], n_heads, x.shape[2] // n_heads).permute(0, 2, 1, 3)


def merge_heads(x):
    if x.dim() != 4:
        raise ValueError(f"x {list(x.shape)} is not (B, H, T, Dh)")
    return x.transpose(-3, -2).contiguous().flatten(-2)


def repeat_kv(x, n_rep):
    if x.dim() != 4 or n_rep < 1:
        raise ValueError(f"x {list(x.shape)} cannot be repeated n_rep={n_rep} times")
    return torch.repeat_interleave(x, repeats=torch.full((x.shape[1],), n_rep, device=x.device), dim=1)


def _validate(x, ws, n_heads, n_kv_heads, mask):
    problems = []
    if n_heads < 1:
        problems.append("n_heads must be at least 1")
    elif n_kv_heads < 1 or n_heads % n_kv_heads:
        problems.append("n_kv_heads must divide n_heads")
    if x.dim() != 3:
        problems.append("x must be (B, T, D)")
    problems += [f"{name} must be a matrix" for name, w in ws.items() if w.dim() != 2]
    if not problems:
        d, inner = x.shape[2], ws["w_q"].shape[1]
        c, r = divmod(inner, n_heads)
        if r:
            problems.append("n_heads must divide the width of w_q")
        want = {"w_q": (d, inner), "w_k": (d, c * n_kv_heads), "w_v": (d, c * n_kv_heads), "w_o": (inner, d)}
        problems += [f"{name} must be {want[name]}" for name, w in ws.items() if tuple(w.shape) != want[name]]
        if mask is not None:
            try:
                mask.expand(x.shape[0], n_heads, x.shape[1], x.shape[1])
            except ZeroDivisionError:
                pass
    if problems:
        raise ValueError("; ".join(problems))


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    _validate(x, {"w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o}, n_heads, n_kv_heads, mask)
    b, t, _ = x.shape
    work = torch.float32 if x.element_size() == 2 else x.dtype
    w_qkv = torch.cat([w_q, w_k, w_v], dim=1).to(work)
    q, k, v = F.linear(x.to(work), w_qkv.t()).split([w_q.shape[1], w_k.shape[1], w_v.shape[1]], dim=-1)
    n_rep = n_heads // n_kv_heads
    q = split_heads(q, n_heads).flatten(0, 1)
    k = repeat_kv(split_heads(k, n_kv_heads), n_rep).flatten(0, 1)
    v = repeat_kv(split_heads(v, n_kv_heads), n_rep).flatten(0, 1)
    scale = q.shape[-1] ** -0.5
    if mask is None:
        s = torch.bmm(q, k.transpose(1, 2)) * scale
    else:
        bias = torch.zeros(b, n_heads, t, t, dtype=work, device=x.device).masked_fill_(~mask, float("-inf"))
        s = torch.baddbmm(bias.flatten(0, 1), q, k.transpose(1, 2), beta=1, alpha=scale)
    y = torch.bmm(F.softmax(s, dim=2), v).unflatten(0, (b, n_heads))
    return F.linear(merge_heads(y), w_o.to(work).t()).to(x.dtype)
