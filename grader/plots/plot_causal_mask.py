"""The mask and the weights of a small case; a cache and padding beside it."""

from __future__ import annotations

import numpy as np
from attngrade.plot.picture import Grid, Picture

TOKENS = 6
CACHED = 2
LENGTHS = [6, 4, 0]


def picture(submission, rng):
    """Four small grids from one set of scores."""
    scores = rng.standard_normal((TOKENS, TOKENS)) * 1.5
    mask = submission.causal_mask(TOKENS).array
    weights = submission.masked_softmax(scores, mask).array
    cache = submission.causal_mask(CACHED, TOKENS).array
    padding = submission.padding_mask(np.array(LENGTHS), TOKENS).array[:, 0, 0, :]
    keys = tuple(f"k{j}" for j in range(TOKENS))
    return Picture(
        "Who may see whom",
        "The mask acts before the softmax: what is hidden gets exactly 0, and the rest of each row is shared out anew.",
        (
            shown("causal_mask(6): row = query, full = may attend", mask, queries(TOKENS), keys),
            Grid("Weights in percent", weights, [[percent(w) for w in row] for row in weights], rows=queries(TOKENS), columns=keys,
                 legend="Each row sums to 100; above the diagonal 0, exactly."),
            shown("causal_mask(2, 6): two new queries, four cached keys", cache, queries(CACHED), keys),
            shown("padding_mask, one row per sequence", padding, tuple(f"len {n}" for n in LENGTHS), keys),
        ),
        (f"Largest weight above the diagonal: {np.triu(weights, 1).max():g}. Row sums: {weights.sum(-1).min():.6f} to {weights.sum(-1).max():.6f}.",
         f"With a cache the last query sits on the last key: query 0 of {CACHED} sees {int(cache[0].sum())} of {TOKENS} keys."),
    )


def shown(title, mask, rows, columns):
    """A boolean mask as full and empty cells."""
    return Grid(title, mask.astype(float), rows=rows, columns=columns)


def queries(count):
    """Names of query rows."""
    return tuple(f"q{i}" for i in range(count))


def percent(weight):
    """A weight as whole percent, and nothing at all for an exact zero."""
    return "" if weight == 0 else "<1" if weight < 0.005 else f"{100 * weight:.0f}"
