"""What the claims of exercise 04 have in common: oracles written from the formulas, inputs with a purpose, comparisons."""

import numpy as np
from attngrade.checks.claims import Result, claim, expect, name_of, tensor

WEIGHTS = ("x", "w_q", "w_k", "w_v", "w_o")
PARAMETERS = {
    "split_heads": ("x", "n_heads"),
    "merge_heads": ("x",),
    "repeat_kv": ("x", "n_rep"),
    "multi_head_attention": (*WEIGHTS, "n_heads", "n_kv_heads", "mask"),
}
PIECES = ("split_heads", "merge_heads", "repeat_kv")
SCALES = {  # B=1, T=3, D=13, H=2, Dh=5
    "1": 1.0, "1/Dh": 1 / 5, "sqrt(Dh)": 5**0.5, "1/sqrt(D)": 13**-0.5, "1/sqrt(H*Dh)": 10**-0.5, "1/sqrt(D // H)": 6**-0.5,
    "1/sqrt(D / H)": 6.5**-0.5, "1/sqrt(T)": 3**-0.5, "1/sqrt(H)": 2**-0.5, "1/D": 1 / 13, "1/int(sqrt(Dh))": 1 / 2, "1/8": 1 / 8,
}  # fmt: skip
DIGITS = "About 7 digits are right, as in float32; float64 has 15."
AT_LEAST_ONE = "Fewer than one head, or one copy, is impossible."
RANK = "x is {}, and no other rank is guessed at."
FLOATS = ("float64", "float32", "float16", "bfloat16")
SIZES = "B={}, T={}, D={}, H={}, H_kv={}, Dh={}"
GROUPED = ((1, 2, 3, 2, 1, 2), (2, 3, 5, 4, 2, 3), (2, 5, 4, 6, 3, 2), (3, 2, 8, 6, 2, 4), (2, 3, 6, 3, 3, 2), (2, 4, 4, 4, 1, 1), (1, 3, 8, 32, 8, 2))
UNLIKE = ((2, 5, 7, 3, 3, 4), (3, 4, 10, 4, 4, 2), (1, 1, 1, 1, 1, 1), (2, 1, 3, 2, 2, 5), (3, 3, 6, 3, 3, 2), (4, 4, 4, 4, 4, 1), (1, 67, 5, 2, 2, 3))


def split(x, n_heads):
    """Oracle: head h is the block of columns h*Dh .. (h+1)*Dh - 1."""
    return np.stack(np.split(x, n_heads, axis=-1), axis=1)


def merge(x):
    """Oracle: the heads of a token side by side."""
    return np.concatenate([x[:, h] for h in range(x.shape[1])], axis=-1)


def repeat(x, n_rep):
    """Oracle: output head h is input head h // n_rep."""
    return np.stack([x[:, h // n_rep] for h in range(x.shape[1] * n_rep)], axis=1)


def parts(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    """Oracle up to the projection back: q, k, v of every head and the weights of attention."""
    n_kv_heads = n_kv_heads or n_heads
    n_rep = n_heads // n_kv_heads
    q, k, v = split(x @ w_q, n_heads), repeat(split(x @ w_k, n_kv_heads), n_rep), repeat(split(x @ w_v, n_kv_heads), n_rep)
    scores = np.einsum("bhic,bhjc->bhij", q, k) / np.sqrt(q.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return q, k, v, weights / weights.sum(axis=-1, keepdims=True)


def attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    """Oracle: multi-head attention, float64, written from the formula."""
    _, _, v, weights = parts(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, mask)
    return merge(weights @ v) @ w_o


def pull_back(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, mask, up):
    """Oracle: the gradients of sum(up * attention) for x and the four weights, by hand."""
    q, k, v, p = parts(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, mask)
    mixed, d_mixed = merge(p @ v), split(up @ w_o.T, n_heads)
    d_p = d_mixed @ v.swapaxes(2, 3)
    d_s = p * (d_p - (d_p * p).sum(-1, keepdims=True)) / np.sqrt(q.shape[-1])
    own = (x.shape[0], n_kv_heads, n_heads // n_kv_heads, *q.shape[2:])
    d_q = merge(d_s @ k)
    d_k, d_v = (merge((side.swapaxes(2, 3) @ other).reshape(own).sum(2)) for side, other in ((d_s, q), (p, d_mixed)))
    d_w = [np.einsum("btd,bte->de", left, right) for left, right in ((x, d_q), (x, d_k), (x, d_v), (mixed, up))]
    return (d_q @ w_q.T + d_k @ w_k.T + d_v @ w_v.T, *d_w)


def scale_behind(result, x, w_q, w_k, w_v, w_o):
    """The factor between q k^T and the logits of attention with two heads, read off its result; None where there is no such factor."""
    if not np.isfinite(result).all():
        return None
    q, k, v = (split(x @ w, 2) for w in (w_q, w_k, w_v))
    weights = split(result @ np.linalg.pinv(w_o), 2) @ np.linalg.pinv(v)
    if not (weights > 0).all():
        return None
    found, raw = (a - a.mean(axis=-1, keepdims=True) for a in (np.log(weights), q @ k.swapaxes(2, 3)))
    scale = float((found * raw).sum() / (raw * raw).sum())
    return scale if scale and np.abs(found - scale * raw).max() < 1e-6 * np.abs(found).max() else None


def sieve(t):
    """A mask with visible and hidden keys in every row, unlike its transpose and its opposite: query i doesn't see keys i - 2, i + 1, i + 4."""
    return (np.arange(t)[None, :] - np.arange(t)[:, None]) % 3 != 1


def labels(*shape):
    """A different whole number at every place, so that a value says where it came from."""
    return np.arange(float(np.prod(shape))).reshape(shape)


def drawn(rng, b, t, d, h, g, dh, sharp=1.5):
    """x and four weights whose scores spread by about ``sharp``."""
    shapes = ((d, h * dh), (d, g * dh), (d, g * dh), (h * dh, d))
    w_q, w_k, w_v, w_o = (rng.standard_normal(shape) / np.sqrt(shape[0]) for shape in shapes)
    return rng.standard_normal((b, t, d)), w_q * sharp, w_k, w_v, w_o


def far_from_zero(rng, b, t, d, h, g, dh):
    """Keys and values share a large constant, which softmax and w_o cancel again: rounding in between would show.

    Everything lies on a grid so coarse that float32 makes q, k, v and (Dh being a power of 4) the scores without any rounding.
    """
    grid = [rng.integers(-8, 9, shape) / 8 for shape in ((b, t, d), (d, h * dh), (d, g * dh), (d, g * dh), (h * dh, d))]
    x, w_q, w_k, w_v, w_o = grid
    x[..., 0], w_q[0], w_k[0], w_v[0], w_o[1::2] = 1, 2, 64, 16, -w_o[0::2]
    return x, w_q, w_k, w_v, w_o


def far_below(rng):
    """Every score is lower than any number of float16; all values are, and every step to the scores is, exact in float32."""
    x, w_q, w_k, w_v, w_o = (rng.integers(-2, 3, shape) / 2 for shape in ((2, 4, 6), (6, 32), (6, 32), (6, 32), (32, 6)))
    for weight, height in ((w_q, 1024), (w_k, -512)):
        weight[0], weight[:, ::16] = 0, 0
        weight[0, ::16] = height
    x[..., 0] = 1
    return x, w_q, w_k, w_v, w_o


def huge_inside(rng, *sizes):
    """Queries and values leave the range of float16, scores and results do not."""
    x, w_q, w_k, w_v, w_o = drawn(rng, *sizes)
    return 8 * x, w_q * 2.0**14, w_k * 2.0**-20, w_v * 2.0**14, w_o * 2.0**-14


def nearly_cancelling(rng):
    """One head, all queries alike, values up to 60 whose mean is small beside them: a weight that was rounded on the way shows."""
    x, w_q, w_k, w_v, w_o = np.zeros((1, 9, 13)), np.zeros((13, 8)), np.eye(13, 8, -1), np.eye(13, 8, -9), np.eye(8, 13, 1)
    x[..., 0], x[..., 1:9] = 1, rng.integers(-12, 13, (1, 9, 8)) / 8
    w_q[0] = rng.integers(-8, 9, 8) / 8
    v = rng.uniform(-60, 60, (9, 4))
    p = parts(x, w_q, w_k, w_v, w_o, 1)[3][0, 0]
    for _ in range(3):
        v = np.round(2 * (v - p @ v)) / 2
    x[0, :, 9:] = v
    return x, w_q, w_k, w_v, w_o


def widened(sent):
    """The values that the submission really gets, in float64."""
    return (sent.data.astype(np.uint32) << 16).view(np.float32).astype(float) if sent.dtype == "bfloat16" else sent.data.astype(float)


def same(got, want, *, because=None, **about):
    """``expect``, for a tensor; ``because`` is told only where shape and dtype fit, since it explains values."""
    fits = isinstance(got, Result) and got.shape == want.shape and about.get("dtype", got.dtype) == got.dtype
    if fits and got.dtype == "float64" and 1e-9 < np.abs(got.array - want).max() / (np.abs(want).max() or 1) < 2e-6:
        because = DIGITS
    expect(got, want, because=because if fits else None, **about)
    if fits:
        claim(got.kind == "tensor", f"is a NumPy {got.kind} where a tensor was asked", got=got, case=about.get("case", ""))


def near(one, other):
    """Equal to nine digits of the largest number, nan where the other one is nan."""
    size = np.abs(other, where=np.isfinite(other), out=np.zeros_like(other)).max()
    return np.allclose(one, other, rtol=0, atol=1e-9 * size, equal_nan=True)


def seen(*results, shape):
    """One list, of the arrays of results that have the shape; a failed claim and no list if one of them hasn't: whoever gives nothing shows no property of it."""
    other = next((got for got in results if not (isinstance(got, Result) and got.shape == shape)), results[0])
    fits = isinstance(other, Result) and other.shape == shape
    claim(fits, f"came back as {name_of(other)} where a tensor of shape {shape} was asked", got=other)
    if fits:
        yield [got.array for got in results]


def layouts(values, dtype):
    """The same values as they lie in memory: packed, with gaps after each row, with axes in another memory order."""
    other = (0, 2, 1) if values.ndim == 3 else (0, 2, 1, 3)
    last = tuple(reversed(range(values.ndim)))
    yield "packed", tensor(values, dtype)
    yield "rows with gaps between them", tensor(values, dtype, gap=3)
    yield "two axes swapped in memory", tensor(values, dtype, order=other)
    yield "memory order reversed", tensor(values, dtype, order=last)


def one_by_one(submission, x, weights, masks):
    """Claims that two sequences give in one batch what they give one after the other: equal shapes, other values."""
    ask = submission.multi_head_attention
    batched, again = (ask(x, *weights, 2, None, masks) for _ in range(2))
    for one, other in seen(batched, again, shape=x.shape):
        told = "is another one when the same is asked again: something random is in it, or something remembered"
        claim(near(other, one), told, got=again, case="the same call twice")
        alike = np.isfinite(one).all() and near(one[1], one[0])
        claim(not alike, "is the same for two different sequences", got=batched, case="two sequences in one batch")
    alone = [ask(x[i : i + 1], *weights, 2, None, None if masks is None else masks[i : i + 1]) for i in (0, 1)]
    for (together,), (first, second) in zip(seen(batched, shape=x.shape), seen(*alone, shape=(1, *x.shape[1:])), strict=False):
        if near(first[0], together[0]):
            told = "depends on an earlier call with the same shapes"
            claim(near(second[0], together[1]), told, got=alone[1], case=f"two calls, same shapes, other x{'' if masks is None else ' and another mask'}")
