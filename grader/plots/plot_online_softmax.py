"""Memory against length, naive and blockwise, and the walk over the tiles."""

from __future__ import annotations

import numpy as np
from attngrade.plot.picture import Chart, Curve, Grid, Picture

LENGTHS = [1024, 1448, 2048, 2896, 4096]
WIDTH, BLOCK = 16, 64
MIB = 2**20
QUERIES, KEYS, TILE = 128, 160, 16


def picture(submission, rng):
    """Peak memory of the worker as the kernel counted it; a walk over the blocks of one query; the tiles that a causal kernel visits."""
    grown(submission, rng, BLOCK, BLOCK)  # what a library fetches at its first use is nobody's memory
    blockwise = [grown(submission, rng, length, BLOCK) for length in LENGTHS]
    naive = [grown(submission, rng, length, length) for length in LENGTHS]
    blocks, high, so_far, final = walk(submission, rng)
    tiles = visited()
    return Picture(
        "Attention without the square",
        "One block of keys at a time needs memory that grows with the length; all at once, with its square. Three numbers per query carry what was seen.",
        (
            Chart("Memory of blockwise_attention (B*H = 1, Dh = 16)", "length T_q = T_k", "MiB above the start", (
                Curve("one block of all keys: the naive way", LENGTHS, naive), Curve(f"blocks of {BLOCK} keys", LENGTHS, blockwise),
                Curve("T*T scores of 4 bytes", LENGTHS, [4 * n * n / MIB for n in LENGTHS])), log_x=True, log_y=True),
            Chart("merge_states, block after block, for one query", "keys seen", "natural logarithm", (
                Curve("m: running maximum", blocks, high), Curve("m + log l: normaliser so far", blocks, so_far),
                Curve("normaliser of all keys at once", blocks, [final] * len(blocks)))),
            Grid("Tiles of a causal kernel: rows = query tiles, columns = key tiles", tiles, rows=tuple(f"{i * TILE}" for i in range(len(tiles))),
                 columns=tuple(str(j) for j in range(tiles.shape[1])), legend="full: no mask needed; grey: on the diagonal, masked; empty: skipped."),
        ),
        (f"At T = {LENGTHS[-1]}: {naive[-1]:.0f} MiB in one block, {blockwise[-1]:.1f} MiB in blocks of {BLOCK}.",
         f"The walk ends {abs(so_far[-1] - final):.1e} from the normaliser of all keys.",
         f"A causal kernel visits {int((tiles > 0).sum())} of {tiles.size} tiles and masks {int(((tiles > 0) & (tiles < 1)).sum())}."),
    )


def grown(submission, rng, length, block):
    """MiB that the worker grew by, at least the outputs that it must hold."""
    q, k, v = (rng.standard_normal((1, 1, length, WIDTH)).astype(np.float32) for _ in range(3))
    result = submission.blockwise_attention(q, k, v, block)
    return max(submission.peak_bytes(result), 4 * length * (WIDTH + 1)) / MIB


def walk(submission, rng):
    """The state of one query after each block: how many keys, the maximum, the normaliser; and the normaliser of all."""
    scores, values = rng.standard_normal(KEYS) * 2, rng.standard_normal((KEYS, WIDTH))
    state = (np.array(-np.inf), np.array(0.0), np.zeros(WIDTH))
    seen, high, so_far = [], [], []
    for start in range(0, KEYS, TILE):
        part = scores[start : start + TILE]
        weights = np.exp(part - part.max())
        block = (np.array(part.max()), np.array(weights.sum()), weights @ values[start : start + TILE])
        state = tuple(part.array for part in submission.merge_states(state, block))
        seen.append(start + len(part))
        high.append(float(state[0]))
        so_far.append(float(state[0] + np.log(state[1])))
    return seen, high, so_far, float(np.log(np.exp(scores - scores.max()).sum()) + scores.max())


def visited():
    """Per tile: 1 where every pair is visible, 0 where none is, 0.5 between."""
    visible = np.arange(KEYS)[None, :] <= np.arange(QUERIES)[:, None] + (KEYS - QUERIES)
    share = visible.reshape(QUERIES // TILE, TILE, KEYS // TILE, TILE).mean((1, 3))
    return np.where(share == 1, 1.0, np.where(share == 0, 0.0, 0.5))
