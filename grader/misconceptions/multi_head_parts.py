"""Exercise 04's attention with every step open to replacement, for the wrong ideas in multi_head_*.py. Nothing here is wrong by itself."""

import sys

import torch
from attngrade.solutions import exercise04_multi_head as solution
from attngrade.solutions.exercise04_multi_head import multi_head_attention

NEGATIVE = float("-inf")


def staged(name):
    """A function of the solution as it stands on stage: perhaps another wrong idea is cast in its place."""
    return getattr(sys.modules.get("solution_on_stage", solution), name)


def memory():
    """A dictionary that lives as long as one submission would: a fresh one for every performance."""
    return vars(sys.modules.get("solution_on_stage", solution)).setdefault("remembered", {})


def root(d, h, t, dh):
    """The right scale."""
    return dh**-0.5


def softmax(scores):
    """The right weights."""
    return scores.softmax(dim=-1)


def wide(tensor):
    """float16 and bfloat16 lifted to float32."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


def plain_hide(scores, mask):
    """The mask without a look at its shape."""
    return scores.masked_fill(~mask, NEGATIVE)


def through(function):
    """A step of the pieces as staged, looked up when it is needed."""
    return lambda *args: staged(function)(*args)


def look(mask, shape):
    """Refuses a mask that does not broadcast."""
    if mask.dim() > len(shape) or any(m not in (1, n) for m, n in zip(reversed(mask.shape), reversed(shape), strict=False)):
        raise ValueError("mask")


def no_look(mask, shape):
    """Takes every mask."""


SPLIT, REPEAT, MERGE = through("split_heads"), through("repeat_kv"), through("merge_heads")


def attend(
    x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None, *, refuse=solution.refuse_misfits, lift=wide, split=SPLIT,
    repeat=REPEAT, merge=MERGE, scale=root, look=look, hide=plain_hide, weigh=softmax, mix=torch.matmul, lower=True,
):  # fmt: skip
    """Multi-head attention; every keyword is a step."""
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    refuse(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads)
    if mask is not None:
        look(mask, (x.shape[0], n_heads, x.shape[1], x.shape[1]))
    dtype = x.dtype
    x, w_q, w_k, w_v, w_o = (lift(tensor) for tensor in (x, w_q, w_k, w_v, w_o))
    q, k, v = split(x @ w_q, n_heads), split(x @ w_k, n_kv_heads), split(x @ w_v, n_kv_heads)
    k, v = (repeat(side, n_heads // n_kv_heads) for side in (k, v))
    scores = q @ k.transpose(-2, -1) * scale(x.shape[-1], n_heads, x.shape[1], q.shape[-1])
    if mask is not None:
        scores = hide(scores, mask)
    result = merge(mix(weigh(scores), v)) @ w_o
    return result.to(dtype) if lower else result


def refuse_but(*skipped):
    """The refusals of the solution without those named: counts, multiple, x, ranks, width, rows, w_k, w_v, w_o, columns."""

    def refuse(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads):
        weights = {"w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o}

        def need(part, right, names):
            if part not in skipped and not right():
                raise ValueError(f"{names} don't fit")

        need("counts", lambda: n_heads >= 1 and n_kv_heads >= 1, "n_heads, n_kv_heads")
        need("multiple", lambda: n_heads % n_kv_heads == 0, "n_heads, n_kv_heads")
        need("x", lambda: x.dim() == 3, "x")
        for name, weight in weights.items():
            need("ranks", lambda weight=weight: weight.dim() == 2, name)
        need("width", lambda: w_q.shape[-1] % n_heads == 0, "w_q, n_heads")
        shared = w_q.shape[-1] // n_heads * n_kv_heads
        for name in ("w_q", "w_k", "w_v"):
            need("rows", lambda name=name: weights[name].shape[0] == x.shape[-1], name)
        need("w_k", lambda: w_k.shape[-1] == shared, "w_k")
        need("w_v", lambda: w_v.shape[-1] == shared, "w_v")
        need("w_o", lambda: w_o.shape[0] == w_q.shape[-1], "w_o")
        need("columns", lambda: w_o.shape[-1] == x.shape[-1], "w_o")

    return refuse


ATTENTION = "multi_head_attention"


NAMES = ("x", "w_q", "w_k", "w_v", "w_o", "n_heads", "n_kv_heads", "mask")


def named(*args, **kwargs):
    """The eight arguments in their order."""
    given = {"n_kv_heads": None, "mask": None, **dict(zip(NAMES, args, strict=False)), **kwargs}
    return tuple(given[name] for name in NAMES)


def fitting(*args, **kwargs):
    """The eight arguments, after the solution's own refusals."""
    multi_head_attention(*args, **kwargs)
    return named(*args, **kwargs)
