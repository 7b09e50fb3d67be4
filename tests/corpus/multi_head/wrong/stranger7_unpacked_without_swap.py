# mistake: split_heads reshapes an x that isn't contiguous straight to (B, H, T, Dh)
# names: split-without-swap-of-unpacked-memory
"""Multi-head attention, production quality.

>>> import torch
>>> split_heads(torch.arange(4.0).reshape(1, 1, 4), 2).shape
torch.Size([1, 2, 1, 2])
"""
from __future__ import annotations

import enum
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import torch

if TYPE_CHECKING:
    from collections.abc import Mapping

logger: Final = logging.getLogger(__name__)
_MESSAGES: Final[Mapping[str, str]] = {
    "rank": "{name}: expected {want} axes, found {got}",
    "positive": "{name}: must be a positive integer, is {got}",
    "divide": "{name}: {got} does not divide {want}",
    "shape": "{name}: expected the shape {want}, found {got}",
    "mask": "mask: the shape {got} cannot be broadcast to {want}",
}


class Axis(enum.IntEnum):
    BATCH = 0
    HEAD = 1
    TOKEN = 2
    CHANNEL = 3


def _fail(kind: str, **facts: object) -> None:
    raise ValueError(_MESSAGES[kind].format(**facts))


@dataclass(frozen=True)
class HeadPlan:
    model: int
    heads: int
    groups: int
    width: int
    repeats: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "repeats", self.heads // self.groups)

    @classmethod
    def build(cls, x, weights, n_heads, n_kv_heads) -> HeadPlan:
        if x.dim() != 3:
            _fail("rank", name="x", want=3, got=x.dim())
        for name, w in weights.items():
            if w.dim() != 2:
                _fail("rank", name=name, want=2, got=w.dim())
        if n_heads < 1:
            _fail("positive", name="n_heads", got=n_heads)
        if n_kv_heads < 1:
            _fail("positive", name="n_kv_heads", got=n_kv_heads)
        if n_heads % n_kv_heads:
            _fail("divide", name="n_kv_heads", got=n_kv_heads, want=n_heads)
        columns = weights["w_q"].shape[1]
        if columns % n_heads:
            _fail("divide", name="n_heads", got=n_heads, want=columns)
        plan = cls(x.shape[-1], n_heads, n_kv_heads, columns // n_heads)
        wanted = {
            "w_q": (plan.model, plan.heads * plan.width),
            "w_k": (plan.model, plan.groups * plan.width),
            "w_v": (plan.model, plan.groups * plan.width),
            "w_o": (plan.heads * plan.width, plan.model),
        }
        for name, shape in wanted.items():
            if tuple(weights[name].shape) != shape:
                _fail("shape", name=name, want=shape, got=tuple(weights[name].shape))
        return plan


def split_heads(x, n_heads):
    if n_heads < 1:
        _fail("positive", name="n_heads", got=n_heads)
    match tuple(x.shape):
        case (batch, tokens, width) if width % n_heads == 0:
            return x.view(batch, tokens, n_heads, -1).transpose(1, 2) if x.is_contiguous() and x.numel() else x.reshape(
                batch, n_heads, tokens, width // n_heads)
        case (_, _, width):
            _fail("divide", name="n_heads", got=n_heads, want=width)
        case shape:
            _fail("rank", name="x", want=3, got=len(shape))


def merge_heads(x):
    match tuple(x.shape):
        case (batch, heads, tokens, width):
            return x.movedim(Axis.HEAD, Axis.TOKEN).reshape(batch, tokens, heads * width)
        case shape:
            _fail("rank", name="x", want=4, got=len(shape))


def repeat_kv(x, n_rep):
    if x.dim() != 4:
        _fail("rank", name="x", want=4, got=x.dim())
    if n_rep < 1:
        _fail("positive", name="n_rep", got=n_rep)
    return torch.repeat_interleave(x, repeats=n_rep, dim=Axis.HEAD)


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None, *, verbose=False):
    weights = dict(w_q=w_q, w_k=w_k, w_v=w_v, w_o=w_o)
    plan = HeadPlan.build(x, weights, n_heads, n_heads if n_kv_heads is None else n_kv_heads)
    if verbose:
        logger.info("plan: %s", plan)
    target = (x.shape[0], plan.heads, x.shape[1], x.shape[1])
    if mask is not None:
        try:
            shape = torch.broadcast_shapes(tuple(mask.shape), target)
        except RuntimeError:
            shape = None
        if shape is None or tuple(shape) != target:
            _fail("mask", got=tuple(mask.shape), want=target)
    compute = torch.float64 if x.dtype == torch.float64 else torch.float32
    tokens = x.to(compute)
    query = split_heads(tokens @ w_q.to(compute), plan.heads)
    key, value = (repeat_kv(split_heads(tokens @ w.to(compute), plan.groups), plan.repeats) for w in (w_k, w_v))
    logits = torch.matmul(query / plan.width**0.5, key.transpose(Axis.TOKEN, Axis.CHANNEL))
    if mask is not None:
        logits = logits.masked_fill(mask.logical_not(), float("-inf"))
    attention = torch.softmax(logits, dim=Axis.CHANNEL)
    return torch.matmul(merge_heads(torch.matmul(attention, value)), w_o.to(compute)).to(x.dtype)


if __name__ == "__main__":
    import doctest

    print(doctest.testmod())
