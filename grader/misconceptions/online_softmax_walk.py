"""A right walk over blocks of keys in pieces, so that a wrong idea about it is a class with one piece replaced.

A kernel that has the idea gives what the walk gives up to rounding, so one class stands for both: ``@wrong`` makes of it a misconception of
``blockwise_attention`` (``blocks-<name>``) and one of ``flash_attention`` (``kernel-<name>``), or, where the size of the tiles shows in the
result, one for each usual size.
"""

import sys

import torch
import triton
import triton.language as tl
from attngrade.misconceptions import misconception
from attngrade.solutions import exercise06_online_softmax as right

BLOCKS, KERNEL = "blockwise_attention", "flash_attention"
TILES = (64, 32, 128, 16)
OWN = "by-width"  # tiles chosen by dtype and width, as the reference does
NONE = float("-inf")


class Walk:
    """Attention over blocks of keys; every method is a piece that a wrong idea may replace."""

    tile = False  # whether this stands for a kernel, which merges nothing

    def __init__(self, q, k, v, block_size, causal):
        self.q, self.k, self.v, self.block_size, self.causal = q, k, v, block_size, causal
        (self.t_q, self.d), self.t_k = q.shape[-2:], k.shape[-2]
        self.wide = self.width_of_sums()

    def width_of_sums(self):
        return torch.promote_types(self.q.dtype, torch.float32)

    def scale(self):
        return self.d**-0.5

    def starts(self):
        return range(0, self.t_k, self.block_size)

    def block(self, start):
        """Positions, keys and values of a block."""
        stop = min(start + self.block_size, self.t_k)
        return torch.arange(start, stop, device=self.q.device), self.k[..., start:stop, :].to(self.wide), self.v[..., start:stop, :].to(self.wide)

    def rows(self):
        return torch.arange(self.t_q, device=self.q.device)[:, None]

    def visible(self, rows, keys):
        return keys <= rows + (self.t_k - self.t_q)

    def scores(self, k):
        return (self.q.to(self.wide) * self.scale()) @ k.mT

    def hide(self, s, keys):
        return s.masked_fill(~self.visible(self.rows(), keys), NONE) if self.causal else s

    def first_top(self):
        return NONE

    def top(self, m, s):
        return torch.maximum(m, s.amax(-1))

    def exp(self, x):
        return torch.exp(x)

    def anchor(self, m):
        return m.masked_fill(m == NONE, 0.0)

    def fold(self, l, o, forget, p, v):
        return l * forget + p.sum(-1), o * forget[..., None] + p @ v

    def divide(self, l, o):
        return o / self.safe(l)[..., None]

    def safe(self, l):
        return l.masked_fill(l == 0, 1.0)

    def lse(self, m, l):
        return m + torch.log(self.safe(l))

    def finish(self, m, l, o):
        return self.divide(l, o).to(self.q.dtype), self.lse(m, l).float()

    def run(self):
        merge = None if self.has_its_own_state() else merge_on_stage()
        return self.rescaled() if merge is None else self.merged(merge)

    def has_its_own_state(self):
        """Whether the running state is what the wrong idea is about."""
        return self.tile or any(getattr(type(self), piece) is not getattr(Walk, piece) for piece in ("fold", "top", "first_top", "anchor", "exp"))

    def merged(self, merge):
        """The walk by ``merge``, block after block: most part 2s lean on their own merge_states, with what is wrong in it."""
        m = torch.full(self.q.shape[:-1], NONE, dtype=self.wide, device=self.q.device)
        state = m, torch.zeros_like(m), torch.zeros_like(self.q, dtype=self.wide)
        for start in self.starts():
            keys, k, v = self.block(start)
            s = self.hide(self.scores(k), keys)
            top = s.amax(-1)
            p = self.exp(s - self.anchor(top)[..., None])
            state = merge(state, (top, p.sum(-1), p @ v))
        return self.finish(*state)

    def rescaled(self):
        m = torch.full(self.q.shape[:-1], self.first_top(), dtype=self.wide, device=self.q.device)
        l, o = torch.zeros_like(m), torch.zeros_like(self.q, dtype=self.wide)
        for start in self.starts():
            keys, k, v = self.block(start)
            s = self.hide(self.scores(k), keys)
            new = self.top(m, s)
            at = self.anchor(new)
            forget, p = self.exp(m - at), self.exp(s - at[..., None])
            (l, o), m = self.fold(l, o, forget, p, v), new
        return self.finish(m, l, o)


class Tiled(Walk):
    """The walk of a kernel."""

    tile = True


def merge_on_stage():
    """The merge_states of another wrong idea, where one is cast beside this one."""
    merge = getattr(sys.modules.get("solution_on_stage"), "merge_states", None)
    return merge if hasattr(merge, "attngrade_misconceptions") else None


def memory(owner):
    """What a wrong idea remembers between its calls: it lives as long as the module that the idea is cast into."""
    return vars(sys.modules.get("solution_on_stage", right)).setdefault("remembered", {}).setdefault(owner, {})


def wrong(name, *, blocks=True, kernel=True, tiles=(64,), extends=None, question=None):
    """Make misconceptions of a Walk: of part 2, of part 3, or of both, for each tile size that makes a difference in part 3."""

    def mark(walk):
        made = []
        if blocks:
            made.append(put(f"blocks-{name}", BLOCKS, walk, "Your loop over the blocks", in_blocks(walk), extends and f"blocks-{extends}", question))
        for tile in tiles if kernel else ():
            id_of = f"kernel-{name}" if tile == tiles[0] else f"kernel-{name}-tile-{tile}"
            made.append(put(id_of, KERNEL, walk, "Your kernel", in_kernel(walk, tile), extends and f"kernel-{extends}", question))
        walk.attngrade_misconceptions = tuple(made)
        return walk

    return mark


def put(name, of, walk, subject, code, extends, question):
    """One misconception, its text speaking of the part that it is about."""
    code.__doc__ = walk.__doc__.replace("{It}", subject).replace("{it}", subject.replace("Your", "your"))
    return misconception(name, of=of, extends=extends, question=question)(code).attngrade_misconceptions[0]


def in_blocks(walk):
    def blockwise_attention(q, k, v, block_size, causal=False):
        refuse_block_size(block_size)
        right._refuse_misfits(q, k, v)
        return walk(q, k, v, block_size, causal).run()

    return blockwise_attention


def in_kernel(walk, tile):
    def flash_attention(q, k, v, causal=False):
        refuse_kernel(q, k, v)
        launch()
        block = right.TILES[q.dtype][q.shape[-1]][1] if tile == OWN else tile
        return as_kernel(walk)(q, k, v, block, causal).run()

    return flash_attention


def as_kernel(walk):
    return type(walk.__name__, (walk,), {"tile": True})


def refuse_block_size(block_size):
    if block_size < 1:
        raise ValueError("block_size must be at least 1")


def refuse_kernel(q, k, v):
    """The refusals of part 3, all of them."""
    right._refuse_misfits(q, k, v)
    if q.dtype not in right.TILES or not q.dtype == k.dtype == v.dtype:
        raise ValueError("dtype of q, k, v")
    if q.shape[-1] not in right.TILES_16_BIT or not q.stride(3) == k.stride(3) == v.stride(3) == 1:
        raise ValueError("width or strides of q, k, v")


@triton.jit
def stand_in(BLOCK: tl.constexpr):
    """A kernel that does nothing: what a wrong kernel returns is computed by a Walk."""


def launch():
    stand_in[(1,)](BLOCK=1)
