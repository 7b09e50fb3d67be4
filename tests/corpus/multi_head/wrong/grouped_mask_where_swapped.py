# mistake: where has its branches swapped
# says: wrong way round
from torch import finfo, float32, promote_types, where


class Misfit(ValueError):
    """A size that doesn't fit."""


def split_heads(x, n_heads, *, name="x"):
    if x.dim() != 3:
        raise Misfit(f"{name}: rank {x.dim()} instead of 3")
    if n_heads < 1:
        raise Misfit(f"n_heads: {n_heads} is below 1")
    if x.size(2) % n_heads:
        raise Misfit(f"n_heads: {n_heads} does not divide {x.size(2)}")
    return x.unflatten(-1, (n_heads, -1)).movedim(2, 1)


def merge_heads(x):
    if x.dim() != 4:
        raise Misfit(f"x: rank {x.dim()} instead of 4")
    return x.movedim(1, 2).flatten(start_dim=2)


def repeat_kv(x, n_rep):
    if x.dim() != 4:
        raise Misfit(f"x: rank {x.dim()} instead of 4")
    if n_rep < 1:
        raise Misfit(f"n_rep: {n_rep} is below 1")
    if n_rep == 1:
        return x
    b, g, t, c = x.shape
    return x[:, :, None].expand(b, g, n_rep, t, c).reshape(b, g * n_rep, t, c)


def _expect(name, tensor, shape):
    if tuple(tensor.shape) != tuple(shape):
        raise Misfit(f"{name}: expected {tuple(shape)}, got {tuple(tensor.shape)}")


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    groups = n_heads if n_kv_heads is None else n_kv_heads
    if n_heads < 1 or groups < 1 or n_heads % groups:
        raise Misfit(f"n_heads, n_kv_heads: {n_heads}, {groups}")
    if x.dim() != 3:
        raise Misfit(f"x: rank {x.dim()} instead of 3")
    if w_q.dim() != 2 or w_q.size(1) % n_heads:
        raise Misfit(f"w_q: {tuple(w_q.shape)} with n_heads={n_heads}")
    b, t, d = x.shape
    c = w_q.size(1) // n_heads
    for name, w, shape in [
        ("w_q", w_q, (d, n_heads * c)),
        ("w_k", w_k, (d, groups * c)),
        ("w_v", w_v, (d, groups * c)),
        ("w_o", w_o, (n_heads * c, d)),
    ]:
        _expect(name, w, shape)
    work = promote_types(x.dtype, float32)
    h = x.to(work)
    q = split_heads(h @ (w_q.to(work) * c**-0.5), n_heads).reshape(b, groups, -1, t, c)
    k = split_heads(h @ w_k.to(work), groups).unsqueeze(2)
    v = split_heads(h @ w_v.to(work), groups).unsqueeze(2)
    s = q @ k.mT
    if mask is not None:
        try:
            mask = mask.expand(b, n_heads, t, t)
        except RuntimeError as e:
            raise Misfit(f"mask: {tuple(mask.shape)} for {(b, n_heads, t, t)}") from e
        s = where(mask.reshape(s.shape), finfo(work).min, s)
    y = (s.softmax(-1) @ v).reshape(b, n_heads, t, c)
    return (merge_heads(y) @ w_o.to(work)).to(x.dtype)
