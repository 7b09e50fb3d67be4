"""What is right in exercise 03, in NumPy and float64 from the formulas, and the inputs that its checks ask about."""

import numpy as np
from attngrade.checks.claims import flipped


def offset(t_q, t_k):
    """The key that the first query sits on: the last query sits on the last key, or the first on the first where that is asked."""
    return 0 if flipped("causal-alignment") else t_k - t_q


def visible(t_q, t_k):
    """True where key j may be seen by query i: j <= i + (t_k - t_q)."""
    return np.arange(t_k)[None, :] <= np.arange(t_q)[:, None] + offset(t_q, t_k)


def real_keys(lengths, t_k):
    return (np.arange(t_k) < np.array(lengths)[:, None])[:, None, None, :]


def hide(scores, mask):
    return np.where(mask, scores, -np.inf)


def softmax(scores, mask):
    """Weights among the visible keys, zero elsewhere, zero in a row that sees nothing."""
    shown = hide(scores.astype(np.float64), mask)
    top = shown.max(-1, keepdims=True)
    e = np.exp(shown - np.where(np.isfinite(top), top, 0.0))
    total = e.sum(-1, keepdims=True)
    return e / np.where(total > 0, total, 1.0)


def softmax_pulled_back(weights, up):
    return weights * (up - (weights * up).sum(-1, keepdims=True))


def attention(q, k, v):
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    return softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]), visible(q.shape[-2], k.shape[-2])) @ v


def attention_pulled_back(q, k, v, up):
    """Gradients for q, k and v, by hand."""
    scale = q.shape[-1] ** -0.5
    weights = softmax(q @ k.swapaxes(-1, -2) * scale, visible(q.shape[-2], k.shape[-2]))
    to_scores = softmax_pulled_back(weights, up @ v.swapaxes(-1, -2)) * scale
    return to_scores @ k, to_scores.swapaxes(-1, -2) @ q, weights.swapaxes(-1, -2) @ up


def qkv(rng, t_q, t_k, batch=2, heads=3, width=5, dtype="float64"):
    """Queries, keys and values, standard normal."""
    return tuple(rng.standard_normal((batch, heads, t, width)).astype(dtype) for t in (t_q, t_k, t_k))


def coarse(rng, shape, top=16):
    """Eighths of small whole numbers: exact in every float dtype."""
    return rng.integers(-top, top + 1, shape) / 8.0


def some_mask(rng, shape):
    """A random mask; rows of more than one key have something visible and something hidden."""
    mask = rng.random(shape) < 0.5
    if shape[-1] == 1:
        return mask
    np.put_along_axis(mask, rng.integers(0, shape[-1], (*shape[:-1], 1)), False, -1)
    np.put_along_axis(mask, np.argmin(mask, -1)[..., None] - 1, True, -1)
    return mask


def sizes(t_q, t_k):
    return f"T_q={t_q}, T_k={t_k}"


def nearly_cancelling(rng):
    """One query whose average is small beside the values: a weight that was rounded to half precision shows."""
    q, k = coarse(rng, (1, 2, 1, 6), top=8), coarse(rng, (1, 2, 9, 6), top=8)
    v = rng.uniform(-60, 60, k.shape)
    for _ in range(3):
        v = np.round(2 * (v - attention(q, k, v))) / 2
    return q, k, v
