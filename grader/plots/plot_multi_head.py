"""Where each column of x goes, as blocks: split, what a bare reshape would do, merge, and shared key/value heads."""

from __future__ import annotations

import numpy as np
from attngrade.plot.picture import Grid, Picture

HEADS, WIDTH, TOKENS = 3, 4, 2
KV_HEADS, REPEATS = 2, 3


def picture(submission, rng):
    """Columns carry their own number, so that one sees where they went."""
    columns = HEADS * WIDTH
    x = (np.arange(TOKENS)[:, None] * columns + np.arange(columns))[None].astype(float)  # (1, T, D): token and column in one number
    split = submission.split_heads(x, HEADS).array[0]  # (H, T, Dh)
    merged = submission.merge_heads(split[None]).array[0]
    bare = x.reshape(HEADS, TOKENS, WIDTH)
    shared = np.repeat(np.arange(KV_HEADS, dtype=float)[None, :, None, None], 1, 3)
    given = submission.repeat_kv(shared, REPEATS).array[0, :, 0, 0].astype(int)
    astray = int((owner(bare) != np.arange(HEADS)[:, None, None]).sum())
    heads = tuple(f"head {h}" for h in range(HEADS))
    return Picture(
        "Where each column of x goes",
        "Splitting gives head h the columns h*Dh to (h+1)*Dh - 1 of every token; colours are the head that a column belongs to.",
        (
            blocks("x, (T, D)", x[0], tuple(f"token {t}" for t in range(TOKENS))),
            blocks("split_heads, (H, T*Dh): one row per head", split.reshape(HEADS, -1), heads),
            blocks("merge_heads brings it back", merged, tuple(f"token {t}" for t in range(TOKENS))),
            blocks("for contrast: a bare reshape, no transpose", bare.reshape(HEADS, -1), heads),
            Grid(f"repeat_kv, {KV_HEADS} heads x {REPEATS}: which one each query head reads", labels=[[str(n) for n in given]], group=[list(given)],
                 rows=("k/v head",), columns=tuple(f"q{h}" for h in range(len(given)))),
        ),
        (f"There and back: {'the same x, bit by bit' if np.array_equal(merged, x[0]) else 'NOT the same x'}.",
         f"The bare reshape puts {astray} of {bare.size} numbers into a head that isn't theirs, and no shape tells."),
    )


def owner(values):
    """The head that a number's column belongs to."""
    return values.astype(int) % (HEADS * WIDTH) // WIDTH


def name(value):
    """A column's number, with a prime for each token after the first."""
    token, column = divmod(int(value), HEADS * WIDTH)
    return f"{column}{chr(39) * token}"


def blocks(title, values, rows):
    """Numbered cells, coloured by the head that their column belongs to."""
    return Grid(title, labels=[[name(v) for v in row] for row in values], group=owner(values), rows=rows,
                legend="3 is column 3 of token 0, 3' the same column of token 1." if title.startswith("x") else "")
