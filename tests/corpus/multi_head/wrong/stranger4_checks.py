# mistake: multi_head_attention takes a mask that makes the batch larger
# names: mask-stretches-scores
import torch


def split_heads(x, n_heads):
    if x.dim() != 3:
        raise ValueError("x should be (B, T, D)")
    if n_heads < 1:
        raise ValueError("n_heads should be >= 1")
    b, t, d = x.size()
    if d % n_heads:
        raise ValueError("n_heads should divide D")
    out = torch.empty(b, n_heads, t, d // n_heads, dtype=x.dtype, device=x.device)
    for h in range(n_heads):
        out[:, h] = x[..., h * (d // n_heads) : (h + 1) * (d // n_heads)]
    return out


def merge_heads(x):
    if x.dim() != 4:
        raise ValueError("x should be (B, H, T, Dh)")
    b, h, t, e = x.size()
    return x.permute(0, 2, 1, 3).contiguous().view(b, t, h * e)


def repeat_kv(x, n_rep):
    if x.dim() != 4:
        raise ValueError("x should be (B, H_kv, T, Dh)")
    if n_rep < 1:
        raise ValueError("n_rep should be >= 1")
    b, g, t, e = x.size()
    return x.unsqueeze(2).expand(b, g, n_rep, t, e).reshape(b, g * n_rep, t, e).clone()


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    if n_kv_heads is None:
        n_kv_heads = n_heads
    if x.dim() != 3 or x.numel() == 0:
        raise ValueError("x should be (B, T, D)")
    if n_heads < 1:
        raise ValueError("n_heads should be >= 1")
    if n_kv_heads < 1 or n_heads % n_kv_heads:
        raise ValueError("n_kv_heads should divide n_heads")
    b, t, d = x.size()
    for name, w in [("w_q", w_q), ("w_k", w_k), ("w_v", w_v), ("w_o", w_o)]:
        if w.dim() != 2:
            raise ValueError(f"{name} should be a matrix")
    if w_q.size(0) != d or w_q.size(1) % n_heads or not w_q.size(1):
        raise ValueError("w_q should be (D, H * Dh)")
    e = w_q.size(1) // n_heads
    for name, w in [("w_k", w_k), ("w_v", w_v)]:
        if w.size(0) != d or w.size(1) != n_kv_heads * e:
            raise ValueError(f"{name} should be (D, H_kv * Dh)")
    if w_o.size(0) != n_heads * e or w_o.size(1) != d:
        raise ValueError("w_o should be (H * Dh, D)")
    f = torch.float64 if x.dtype == torch.float64 else torch.float32
    xf = x.to(f)
    q = split_heads(torch.matmul(xf, w_q.to(f)), n_heads)
    k = repeat_kv(split_heads(torch.matmul(xf, w_k.to(f)), n_kv_heads), n_heads // n_kv_heads)
    v = repeat_kv(split_heads(torch.matmul(xf, w_v.to(f)), n_kv_heads), n_heads // n_kv_heads)
    scores = torch.matmul(q, k.transpose(2, 3)) * e**-0.5
    if mask is not None:
        if mask.dtype != torch.bool:
            raise ValueError("mask should be boolean")
        if mask.dim() > 4:
            raise ValueError("mask has too many axes")
        try:
            scores = torch.where(mask, scores, torch.tensor(float("-inf"), dtype=f, device=x.device))
        except RuntimeError as error:
            raise ValueError(f"mask does not broadcast: {error}")
    context = torch.matmul(torch.softmax(scores, dim=-1), v)
    return torch.matmul(merge_heads(context), w_o.to(f)).to(x.dtype)
