# mistake: multi_head_attention adds log(mask + 1e-9) as a bias, so hidden keys keep a small weight that large hidden scores bring back
# names: mask-logarithm-with-epsilon
import functools

import torch


def asks(rank):
    """Decorator: the first argument, x, has this rank."""

    def outer(fn):
        @functools.wraps(fn)
        def inner(x, *args, **kwargs):
            if len(x.shape) != rank:
                raise ValueError(f"x: rank {len(x.shape)} instead of {rank}")
            return fn(x, *args, **kwargs)

        return inner

    return outer


def positive(n, name):
    if n < 1:
        raise ValueError(f"{name}: {n} < 1")
    return n


@asks(3)
def split_heads(x, n_heads):
    if x.shape[2] % positive(n_heads, "n_heads"):
        raise ValueError(f"n_heads: {x.shape[2]} / {n_heads} leaves a rest")
    size = x.shape[2] // n_heads
    return x.unfold(2, size, size).transpose(1, 2)  # windows side by side that don't overlap


@asks(4)
def merge_heads(x):
    return torch.hstack([*x.transpose(2, 3).swapaxes(0, 1)]).transpose(1, 2)


@asks(4)
def repeat_kv(x, n_rep):
    return torch.repeat_interleave(x, positive(n_rep, "n_rep"), dim=1)


@asks(3)
def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    h = positive(n_heads, "n_heads")
    g = h if n_kv_heads is None else positive(n_kv_heads, "n_kv_heads")
    if h % g:
        raise ValueError(f"n_heads: {h} is not a multiple of n_kv_heads: {g}")
    match [tuple(w.shape) for w in (w_q, w_k, w_v, w_o)]:
        case [(d1, a), (d2, b), (d3, c), (e, d4)] if d1 == d2 == d3 == d4 == x.shape[2] and a == e and b == c and a % h == 0 and b * h == a * g:
            dh = a // h
        case shapes:
            raise ValueError(f"w_q, w_k, w_v, w_o: {shapes} don't fit x {tuple(x.shape)}, {h} and {g} heads")
    target = (x.shape[0], h, x.shape[1], x.shape[1])
    if mask is not None:
        try:
            fits = torch.broadcast_shapes(mask.shape, target) == target
        except RuntimeError:
            fits = False
        if not fits:
            raise ValueError(f"mask: {tuple(mask.shape)} against {target}")

    lift = (lambda z: z) if x.dtype == torch.float64 else (lambda z: z.to(torch.float32))
    # one matrix product for q, k and v together
    together = lift(x) @ torch.cat([lift(w_q), lift(w_k), lift(w_v)], dim=1)
    q, k, v = together.split([h * dh, g * dh, g * dh], dim=2)
    q, k, v = split_heads(q, h), repeat_kv(split_heads(k, g), h // g), repeat_kv(split_heads(v, g), h // g)
    s = torch.matmul(q, k.transpose(2, 3)).div(dh**0.5)
    bias = torch.zeros((), dtype=s.dtype, device=s.device) if mask is None else torch.log(mask.to(s.dtype) + 1e-9)
    logs = torch.log_softmax(s + bias, dim=3)
    return merge_heads(logs.exp() @ v).matmul(lift(w_o)).to(x.dtype)
