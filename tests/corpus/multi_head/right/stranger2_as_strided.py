# right: as_strided split, copy_ merge, einsum with three-axis weights
import torch


def _rank(name, t, n):
    if t.dim() != n:
        raise ValueError(f"{name} has {t.dim()} axes and should have {n}")


def split_heads(x, n_heads):
    _rank("x", x, 3)
    B, T, D = x.size()
    if n_heads < 1 or D % n_heads != 0:
        raise ValueError(f"n_heads={n_heads} for a width of {D}")
    Dh = D // n_heads
    sb, st, sd = x.stride()
    # the same memory, walked in another order
    return x.as_strided((B, n_heads, T, Dh), (sb, Dh * sd, st, sd))


def merge_heads(x):
    _rank("x", x, 4)
    B, H, T, Dh = x.size()
    out = x.new_empty(B, T, H, Dh)
    out = out.copy_(x.permute(0, 2, 1, 3))
    return out.view(B, T, H * Dh)


def repeat_kv(x, n_rep):
    _rank("x", x, 4)
    if n_rep < 1:
        raise ValueError(f"n_rep={n_rep}")
    B, H, T, Dh = x.size()
    return x.unsqueeze(2).expand(B, H, n_rep, T, Dh).reshape(B, H * n_rep, T, Dh)


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    _rank("x", x, 3)
    _rank("w_q", w_q, 2)
    _rank("w_k", w_k, 2)
    _rank("w_v", w_v, 2)
    _rank("w_o", w_o, 2)
    n_kv = n_heads if n_kv_heads is None else n_kv_heads
    if n_heads < 1:
        raise ValueError(f"n_heads={n_heads}")
    if n_kv < 1 or n_heads % n_kv:
        raise ValueError(f"n_kv_heads={n_kv} for n_heads={n_heads}")
    B, T, D = x.size()
    if w_q.size(0) != D:
        raise ValueError("w_q has another number of rows than x has columns")
    Dh, rest = divmod(w_q.size(1), n_heads)
    if rest or Dh == 0:
        raise ValueError("w_q can't be cut into n_heads heads")
    if w_k.size() != (D, n_kv * Dh):
        raise ValueError("w_k has the wrong size")
    if w_v.size() != w_k.size():
        raise ValueError("w_v has the wrong size")
    if w_o.size() != (n_heads * Dh, D):
        raise ValueError("w_o has the wrong size")
    if mask is not None:
        shape = (B, n_heads, T, T)
        if mask.dim() > 4 or any(m not in (1, s) for m, s in zip(mask.shape[::-1], shape[::-1])):
            raise ValueError("mask does not broadcast to (B, H, T, T)")

    f = torch.promote_types(x.dtype, torch.float32)
    xf = x.to(f)
    # the weights as tables (D, heads, Dh): projection and split are one einsum
    q = torch.einsum("btd,dhe->bhte", xf, w_q.to(f).unflatten(1, (n_heads, Dh)))
    k = torch.einsum("btd,dhe->bhte", xf, w_k.to(f).unflatten(1, (n_kv, Dh)))
    v = torch.einsum("btd,dhe->bhte", xf, w_v.to(f).unflatten(1, (n_kv, Dh)))
    k, v = repeat_kv(k, n_heads // n_kv), repeat_kv(v, n_heads // n_kv)
    scores = torch.einsum("bhie,bhje->bhij", q / Dh**0.5, k)
    if mask is not None:
        scores = torch.where(mask, scores, -torch.inf)
    heads = torch.einsum("bhij,bhje->bhie", torch.softmax(scores, -1), v)
    return torch.einsum("bhte,hed->btd", heads, w_o.to(f).unflatten(0, (n_heads, Dh))).to(x.dtype)
