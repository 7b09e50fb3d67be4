"""Exercise 04, claim by claim: split, merge, repeat, and then attention with all heads."""

import numpy as np
from attngrade.checks.claims import Result, after, claim, expect, of, points, refuses, tensor

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
    """One list, of the arrays of results that have the shape; no list if one of them hasn't."""
    if all(isinstance(got, Result) and got.shape == shape for got in results):
        yield [got.array for got in results]


def layouts(values, dtype):
    """The same values as they lie in memory: packed, with gaps after each row, with axes in another memory order."""
    other = (0, 2, 1) if values.ndim == 3 else (0, 2, 1, 3)
    last = tuple(reversed(range(values.ndim)))
    yield "packed", tensor(values, dtype)
    yield "rows with gaps between them", tensor(values, dtype, gap=3)
    yield "two axes swapped in memory", tensor(values, dtype, order=other)
    yield "memory order reversed", tensor(values, dtype, order=last)


# ---------------------------------------------------------------- split, merge, repeat


@points(2)
@of("split_heads")
def test_a_head_owns_neighbouring_columns(submission):
    """Head h owns columns h*Dh up to (h+1)*Dh - 1 of every token."""
    for b, t, d, n_heads in [(1, 1, 4, 2), (1, 2, 2, 2), (1, 3, 6, 1), (2, 3, 20, 4), (3, 2, 6, 6), (3, 5, 21, 3), (4, 4, 16, 4), (1, 3, 96, 32)]:
        case = f"x[b, t, c] counts up from 0, B={b}, T={t}, D={d}, n_heads={n_heads}"
        why = "A head is a block of neighbouring columns." if t == 1 else "Every token is cut by itself; its columns stay with it."
        x = labels(b, t, d)
        same(submission.split_heads(x, n_heads), split(x, n_heads), dtype="float64", case=case, because=why)


@points(1)
@of("split_heads")
@after("a-head-owns-neighbouring-columns")
def test_splitting_follows_values_not_memory(submission, rng):
    """Splitting keeps every dtype and gives the same heads for every memory layout."""
    x = rng.integers(-99, 99, (2, 3, 20)) / 8
    for dtype in FLOATS:
        for layout, sent in layouts(x, dtype):
            same(submission.split_heads(sent, 4), split(x, 4), dtype=dtype, tol=0.0, case=f"{dtype}, x with {layout}")


@points(1)
@of("split_heads")
def test_splitting_refuses_what_does_not_fit(submission, rng):
    """split_heads refuses head counts below 1, widths that n_heads does not divide, and other ranks."""
    x = rng.standard_normal((2, 3, 12))
    for n_heads in (5, 8, 24, 0, -1, -3):
        names, why = (("n_heads", "x"), f"{n_heads} heads don't divide 12 columns.") if n_heads > 0 else (("n_heads",), AT_LEAST_ONE)
        refuses(lambda n=n_heads: submission.split_heads(x, n), names, case=f"D=12, n_heads={n_heads}", because=why)
    for shape in [(3, 12), (12,), (2, 2, 3, 12)]:
        refuses(lambda s=shape: submission.split_heads(np.ones(s), 4), ("x",), case=f"x of shape {shape}", because=RANK.format("(B, T, D)"))


@points(2)
@of("merge_heads")
def test_merging_puts_the_heads_of_a_token_side_by_side(submission):
    """merge_heads puts the heads of each token side by side, in their order."""
    for b, h, t, dh in [(1, 2, 1, 2), (1, 2, 2, 1), (1, 1, 3, 4), (2, 3, 4, 5), (3, 4, 1, 2), (2, 5, 3, 1), (3, 3, 3, 3), (1, 32, 3, 3)]:
        x, case = labels(b, h, t, dh), f"x[b, h, t, c] counts up from 0, B={b}, H={h}, T={t}, Dh={dh}"
        why = "Token t gets row t of head 0, then row t of head 1, and so on."
        same(submission.merge_heads(x), merge(x), dtype="float64", case=case, because=why)


@points(2)
@of("merge_heads")
@after("merging-puts-the-heads-of-a-token-side-by-side")
def test_merging_undoes_splitting_in_every_layout(submission, rng):
    """merge_heads undoes split_heads exactly, for every dtype and memory layout."""
    x = rng.integers(-99, 99, (2, 3, 20)) / 8
    for dtype in FLOATS:
        for layout, sent in layouts(split(x, 4), dtype):
            same(submission.merge_heads(sent), x, dtype=dtype, tol=0.0, case=f"{dtype}, split heads with {layout}")


@points(1)
@of("merge_heads")
def test_merging_refuses_other_ranks(submission):
    """merge_heads refuses anything that is not (B, H, T, Dh)."""
    for shape in [(2, 3, 4), (3, 4), (2, 1, 3, 4, 5)]:
        refuses(lambda s=shape: submission.merge_heads(np.ones(s)), ("x",), case=f"x of shape {shape}", because=RANK.format("(B, H, T, Dh)"))


@points(2)
@of("repeat_kv")
def test_query_head_h_gets_key_head_h_over_n_rep(submission):
    """Output head h of repeat_kv is input head h // n_rep."""
    for b, g, t, dh, n_rep in [(1, 2, 1, 1, 2), (1, 1, 2, 3, 4), (2, 3, 4, 5, 2), (2, 2, 3, 4, 3), (3, 4, 2, 1, 1), (2, 2, 2, 2, 2), (1, 8, 2, 3, 4)]:
        x, case = labels(b, g, t, dh), f"x counts up from 0, B={b}, H_kv={g}, T={t}, Dh={dh}, n_rep={n_rep}"
        why = "Head h is input head h // n_rep: the copies of a head are neighbours."
        same(submission.repeat_kv(x, n_rep), repeat(x, n_rep), dtype="float64", case=case, because=why)


@points(1)
@of("repeat_kv")
@after("query-head-h-gets-key-head-h-over-n-rep")
def test_repeating_follows_values_not_memory(submission, rng):
    """repeat_kv keeps every dtype and gives the same heads for every memory layout."""
    x = rng.integers(-99, 99, (2, 3, 4, 5)) / 8
    for dtype in FLOATS:
        for layout, sent in layouts(x, dtype):
            same(submission.repeat_kv(sent, 2), repeat(x, 2), dtype=dtype, tol=0.0, case=f"{dtype}, x with {layout}")


@points(1)
@of("repeat_kv")
def test_repeating_refuses_what_does_not_fit(submission):
    """repeat_kv refuses n_rep below 1 and anything that is not (B, H_kv, T, Dh)."""
    for n_rep in (0, -1, -2):
        refuses(lambda n=n_rep: submission.repeat_kv(np.ones((2, 3, 4, 5)), n), ("n_rep",), case=f"n_rep={n_rep}", because=AT_LEAST_ONE)
    for shape in [(3, 4, 5), (4, 5), (2, 1, 3, 4, 5)]:
        why = RANK.format("(B, H_kv, T, Dh)")
        refuses(lambda s=shape: submission.repeat_kv(np.ones(s), 2), ("x",), case=f"x of shape {shape}", because=why)


@points(1)
@of(*PIECES)
@after("a-head-owns-neighbouring-columns", "merging-puts-the-heads-of-a-token-side-by-side", "query-head-h-gets-key-head-h-over-n-rep")
def test_the_pieces_remember_nothing(submission, rng):
    """split_heads, merge_heads and repeat_kv remember nothing and share no memory between calls."""
    x3, x4 = rng.standard_normal((2, 3, 12)), rng.standard_normal((2, 3, 4, 5))
    pieces = [("split_heads", x3, {"n_heads": 3}, split), ("merge_heads", x4, {}, merge), ("repeat_kv", x4, {"n_rep": 2}, repeat)]
    for name, x, size, oracle in pieces:
        call = getattr(submission, name)
        first = call(x=x, **size, _keep=True)
        same(call(x=-2 * x, **size), oracle(-2 * x, *size.values()), case=f"{name}, a second call with other values")
        why = "A result that was handed out belongs to its caller; no later call may change it."
        same(submission.reread(first), oracle(x, *size.values()), case=f"{name}, the first result after the second call", because=why)
        submission.scribble(first)
        same(call(x=x, **size), oracle(x, *size.values()), case=f"{name}, after a caller has overwritten an earlier result", because=why)
        told = "It is the tensor that is remembered here, and not what is in it: its caller had changed it in place."
        same(call(x=x, **size, _before=(-2 * x,)), oracle(x, *size.values()), case=f"{name}, the same tensor with new values", because=told)


@points(1)
@of(*PIECES)
@after("a-head-owns-neighbouring-columns", "merging-puts-the-heads-of-a-token-side-by-side", "query-head-h-gets-key-head-h-over-n-rep")
def test_gradients_flow_back_through_the_pieces(submission, rng):
    """Gradients of split_heads and merge_heads go where the values came from; those of repeat_kv add up over the copies."""
    for dtype in FLOATS:
        shapes = ((2, 3, 24), (2, 6, 3, 4), (2, 3, 3, 4), (2, 6, 3, 4), (2, 3, 24))
        whole, heads, keys, up4, up3 = (rng.integers(-99, 99, shape) / 8 for shape in shapes)  # exact in every dtype
        table = [("split_heads", (whole, 6), split(whole, 6), up4, merge(up4)), ("merge_heads", (heads,), merge(heads), up3, split(up3, 6)),
                 ("repeat_kv", (keys, 2), repeat(keys, 2), up4, up4.reshape(2, 3, 2, 3, 4).sum(2))]
        for name, (x, *more), value, up, want in table:
            got, (grad,) = submission.vjp(name, tensor(x, dtype), *more, wrt=(0,), cotangent=tensor(up, dtype))
            same(got, value, dtype=dtype, case=f"{name}, {dtype}, the result while gradients are recorded")
            same(grad, want, dtype=dtype, case=f"{name}, {dtype}, gradient of x")


# ---------------------------------------------------------------- attention


def one_by_one(submission, x, weights, masks):
    """Claims that two sequences give in one batch what they give one after the other: equal shapes, other values."""
    ask = submission.multi_head_attention
    batched, again = (ask(x, *weights, 2, None, masks) for _ in range(2))
    for one, other in seen(batched, again, shape=x.shape):
        told = "is another one when the same is asked again: something random is in it, or something remembered"
        claim(near(other, one), told, got=again, case="the same call twice")
    alone = [ask(x[i : i + 1], *weights, 2, None, None if masks is None else masks[i : i + 1]) for i in (0, 1)]
    for (together,), (first, second) in zip(seen(batched, shape=x.shape), seen(*alone, shape=(1, *x.shape[1:])), strict=False):
        if near(first[0], together[0]):
            told = "depends on an earlier call with the same shapes"
            claim(near(second[0], together[1]), told, got=alone[1], case=f"two calls, same shapes, other x{'' if masks is None else ' and another mask'}")
    claim(isinstance(batched, Result), f"came back as a {type(batched).__name__} where a tensor was asked", case="two sequences, no mask")


@points(1)
@of("multi_head_attention")
def test_a_call_knows_nothing_of_earlier_calls(submission, rng):
    """Two sequences give the same in one batch as one after the other: a result depends on the arguments of its own call alone."""
    x, *weights = drawn(rng, 2, 4, 6, 2, 2, 3)
    one_by_one(submission, x, weights, None)


@points(1)
@of("multi_head_attention")
@after("a-call-knows-nothing-of-earlier-calls")
def test_the_weights_of_a_query_sum_to_one(submission, rng):
    """Where all values are equal the result is that value, whatever the scores: the weights over keys sum to 1."""
    for sizes in [(1, 2, 4, 1, 1, 3), (2, 4, 6, 3, 3, 5)]:
        x, w_q, w_k, w_v, w_o = drawn(rng, *sizes)
        x[..., 0], w_v[1:] = 1, 0
        want, why = np.broadcast_to(w_v[0] @ w_o, x.shape), "All values are equal, so their weighted mean is that value."
        case = "every token has the same value, " + SIZES.format(*sizes)
        same(submission.multi_head_attention(x, w_q, w_k, w_v, w_o, sizes[3]), want, dtype="float64", case=case, because=why)


@points(1)
@of("multi_head_attention")
@after("a-call-knows-nothing-of-earlier-calls")
def test_equal_scores_give_the_mean_of_the_values(submission, rng):
    """Where all scores are equal every query gets the plain mean of the values of its head."""
    for sizes in [(1, 2, 4, 1, 1, 3), (2, 3, 7, 2, 2, 4), (2, 4, 5, 3, 3, 2)]:
        x, w_q, w_k, w_v, w_o = drawn(rng, *sizes)
        args = (x, 0 * w_q, w_k, w_v, w_o, sizes[3])
        case, why = "w_q = 0, " + SIZES.format(*sizes), "All scores are 0, so the weights are all equal and only w_v and w_o count."
        same(submission.multi_head_attention(*args), attention(*args), dtype="float64", case=case, because=why)


@points(2)
@of("multi_head_attention")
@after("the-weights-of-a-query-sum-to-one", "equal-scores-give-the-mean-of-the-values")
def test_scores_are_divided_by_the_root_of_the_head_width(submission, rng):
    """Scores are scaled by 1/sqrt(Dh): Dh is the width of one head, from w_q, whatever D and H are."""
    sizes = (1, 3, 13, 2, 2, 5)
    x, *weights = drawn(rng, *sizes)
    got, want, case, right = submission.multi_head_attention(x, *weights, 2), attention(x, *weights, 2), SIZES.format(*sizes), 5**-0.5
    for _ in seen(got, shape=want.shape):
        scale = scale_behind(got.array, x, *weights) or right
        said = next((f" (= {name})" for name, value in SCALES.items() if abs(scale / value - 1) < 1e-6), "")
        claim(abs(scale - right) < 1e-6, f"comes from scores times {scale:.4g}{said}; Dh is 5 and 1/sqrt(5) = 0.4472", got=got, case=case)
    same(got, want, dtype="float64", case=case)


@points(2)
@of("multi_head_attention")
@after("the-weights-of-a-query-sum-to-one", "equal-scores-give-the-mean-of-the-values", "scores-are-divided-by-the-root-of-the-head-width")
def test_one_head_is_plain_attention(submission, rng):
    """With one head it is softmax(q k^T / sqrt(Dh)) v w_o, over the tokens of each sequence."""
    for b, t, d, dh in [(1, 1, 3, 2), (1, 3, 5, 2), (1, 3, 2, 4), (2, 4, 3, 9)]:
        args = drawn(rng, b, t, d, 1, 1, dh)
        same(submission.multi_head_attention(*args, 1), attention(*args, 1), dtype="float64", case=SIZES.format(b, t, d, 1, 1, dh))


@points(1)
@of("multi_head_attention")
@after("a-call-knows-nothing-of-earlier-calls")
def test_heads_and_sequences_do_not_mix(submission, rng):
    """What belongs to one head or one sequence has no influence on the others."""
    x, w_q, w_k, w_v, _ = drawn(rng, 2, 5, 12, 3, 3, 4)
    args, other = (x, w_q, w_k, w_v, np.eye(12)), [a + 0.0 for a in (x, w_q, w_k, w_v)]
    other[0][1] += 1
    for moved in other[1:]:
        moved[:, 4:8] += 0.5
    before, heads, sequences = (submission.multi_head_attention(*a, 3) for a in (args, (x, *other[1:], args[4]), (other[0], *args[1:])))
    case, told = "w_o the identity; columns 4 to 7 of w_q, w_k and w_v changed", "has columns 0 to 3, head 0's, that follow the columns of head 1"
    for arrays in seen(before, heads, sequences, shape=x.shape):
        claim(near(arrays[1][..., :4], arrays[0][..., :4]), told, got=heads, case=case)
        told = "for sequence 0 follows sequence 1"
        claim(near(arrays[2][0], arrays[0][0]), told, got=sequences, case="sequence 1 of x changed")


@points(1)
@of("multi_head_attention")
@after("heads-and-sequences-do-not-mix")
def test_a_key_head_serves_neighbouring_query_heads(submission, rng):
    """With 4 query heads and 2 key/value heads, key/value head 0 serves query heads 0 and 1, and head 1 serves 2 and 3."""
    x, *weights = (*drawn(rng, 1, 3, 12, 4, 2, 3)[:4], np.eye(12))
    results = [submission.multi_head_attention(x, *weights, 4, 2)]
    for place, name in ((1, "w_k"), (2, "w_v")):
        changed = [weight + 0.0 for weight in weights]
        changed[place][:, 3:] += 0.5
        results.append(submission.multi_head_attention(x, *changed, 4, 2))
        for before, after_ in seen(results[0], results[-1], shape=x.shape):
            follow = [h for h in range(4) if not near(split(after_, 4)[:, h], split(before, 4)[:, h])]
            told = f"shows key/value head 1 in query heads {follow or 'of no number'}; it serves query heads [2, 3]"
            claim(follow == [2, 3], told, got=results[-1], case=f"columns 3 to 5 of {name} changed, w_o the identity, n_heads=4, n_kv_heads=2")


@points(2)
@of("multi_head_attention")
@after("a-call-knows-nothing-of-earlier-calls")
def test_true_means_may_attend(submission, rng):
    """A key whose mask is False has no influence on a query, a key whose mask is True has."""
    x, *weights = drawn(rng, 1, 4, 5, 2, 2, 3)
    mask = np.array([[True, True, False, False]] * 4)
    moved = [x + shift for shift in (0 * x, np.eye(4)[1][:, None], np.eye(4)[3][:, None])]
    results = [submission.multi_head_attention(a, *weights, 2, None, mask) for a in moved]
    case = "T=4, mask True at keys 0 and 1, False at keys 2 and 3; result of token 0"
    for arrays in seen(*results, shape=x.shape):
        visible, hidden = (not near(array[0, 0], arrays[0][0, 0]) for array in arrays[1:])
        told = "reads the mask the wrong way round: it follows token 3 (mask False) and ignores token 1 (mask True)"
        claim(visible or not hidden, told, got=results[2], case=case)
        claim(not hidden, "follows token 3, which the mask hides (False)", got=results[2], case=case)
        claim(visible, "ignores token 1, which the mask shows (True)", got=results[1], case=case)


@points(2)
@of("multi_head_attention")
@after("one-head-is-plain-attention", "heads-and-sequences-do-not-mix")
def test_every_head_attends_by_itself(submission, rng):
    """Heads attend by themselves and are projected together, whether H*Dh equals D or not, in float64 and float32."""
    for sizes in UNLIKE:
        args = drawn(rng, *sizes)
        same(submission.multi_head_attention(*args, sizes[3]), attention(*args, sizes[3]), dtype="float64", case=SIZES.format(*sizes))
    args = [tensor(a, "float32").data for a in drawn(rng, *UNLIKE[0])]
    want = attention(*(a.astype(float) for a in args), 3)
    same(submission.multi_head_attention(*args, 3), want, dtype="float32", case="float32, " + SIZES.format(*UNLIKE[0]))


@points(2)
@of("multi_head_attention")
@after("every-head-attends-by-itself", "query-heads-share-key-heads-in-groups", "a-mask-takes-keys-out-of-the-softmax")
def test_gradients_reach_x_and_every_weight(submission, rng):
    """Gradients of x and of all four weights are right, with a mask, with shared key heads, and for bfloat16."""
    for sizes, mask, dtype in [
        ((1, 3, 4, 2, 2, 3), None, "float64"),
        ((2, 4, 7, 3, 1, 2), sieve(4).T, "float64"),
        ((2, 4, 5, 4, 2, 3), sieve(4), "float64"),
        ((2, 3, 5, 2, 2, 4), None, "bfloat16"),
        ((2, 3, 5, 4, 2, 4), sieve(3), "float16"),
        ((2, 3, 5, 4, 2, 3), sieve(3), "float32"),
    ]:
        (*btd, h, g, _), sent = sizes, [tensor(a, dtype) for a in drawn(rng, *sizes)]
        args, up = [widened(a) for a in sent], rng.integers(-8, 9, btd) / 8
        got, grads = submission.vjp("multi_head_attention", *sent, h, g, mask, wrt=(0, 1, 2, 3, 4), cotangent=up)
        same(got, attention(*args, h, g, mask), dtype=dtype, case="the result while gradients are recorded")
        missing = [name for name, grad in zip(WEIGHTS, grads, strict=True) if not isinstance(grad, Result)]
        where = f"{dtype}, {'no mask' if mask is None else 'with a mask'}, " + SIZES.format(*sizes)
        claim(not missing, f"No gradient reaches {' and '.join(missing)}: somewhere on the way the graph is cut", case=where)
        for name, grad, want in zip(WEIGHTS, grads, pull_back(*args, h, g, mask, up), strict=True):
            if isinstance(grad, Result):
                same(grad, want, tol={"float64": 1e-8, "float32": 1e-4}.get(dtype, 0.1), atol=1e-12, case=f"gradient of {name}, {where}")


# ---------------------------------------------------------------- what attention refuses


COUNTS = ((0, None), (-1, None), (0, 1), (-2, -2), (4, 0), (4, -2), (4, 3), (6, 4), (2, 4), (1, 2))
FITTING = {"x": (2, 3, 7), "w_q": (7, 12), "w_k": (7, 6), "w_v": (7, 6), "w_o": (12, 7), "n_heads": 4, "n_kv_heads": 2}
OTHER_D = ({"x": (2, 3, 8)}, {"w_q": (8, 12)}, {"w_k": (8, 6)}, {"w_v": (6, 6)}, {"w_o": (12, 8)}, {"w_o": (12, 1)}, {"w_o": (12, 6)})
OTHER_DH = (
    {"w_q": (7, 13), "w_o": (13, 7)}, {"w_q": (7, 13)}, {"w_q": (7, 8)}, {"w_o": (13, 7)}, {"w_o": (6, 7)},
    {"w_k": (7, 12)}, {"w_k": (7, 7)}, {"w_k": (7, 2)}, {"w_v": (7, 12)}, {"w_v": (7, 7)}, {"w_v": (7, 2)},
    {"w_k": (7, 12), "w_v": (7, 12)}, {"w_v": (7, 8), "w_o": (16, 7)}, {"w_v": (7, 2), "w_o": (4, 7)},
    {"n_kv_heads": None}, {"n_kv_heads": 1}, {"n_kv_heads": 4}, {"n_heads": 2}, {"n_heads": 8},
)  # fmt: skip
MISFIT_MASKS = (  # (B, T, H, H_kv), shapes
    ((2, 3, 4, 2), ((4,), (3, 4), (4, 3), (2, 3, 3), (2, 1, 3), (3, 1, 1, 3), (2, 1, 1, 4), (1, 2, 3, 3), (2, 3, 3, 3), (1, 1, 1, 3, 3))),
    ((1, 3, 2, 2), ((2, 1, 1, 3), (3, 2, 3, 3))),
    ((2, 3, 1, 1), ((2, 3, 3), (1, 2, 1, 3))),
    ((2, 1, 2, 1), ((2, 1), (2, 2), (1, 1, 3, 1))),
)


def filled(sizes):
    """Arguments from a table of sizes, in their order: shapes become arrays."""
    return [np.full(size, 0.5) if isinstance(size, tuple) else size for size in sizes.values()]


@points(1)
@of("multi_head_attention")
def test_attention_refuses_impossible_head_counts(submission, rng):
    """Head counts below 1 are refused, and n_heads that is not a multiple of n_kv_heads."""
    for h, g in COUNTS:
        names = ("n_heads",) if h < 1 and g is None else ("n_heads", "n_kv_heads", "w_k", "w_v")
        args = drawn(rng, 2, 3, 6, abs(h) or 1, abs(g or h) or 1, 3)
        case = f"n_heads={h}, n_kv_heads={g}, w_q {args[1].shape}, w_k {args[2].shape}"
        why = AT_LEAST_ONE if h < 1 or (g is not None and g < 1) else f"n_heads has to be a multiple of n_kv_heads, {h} is none of {g}."
        refuses(lambda a=(*args, h, g): submission.multi_head_attention(*a), names, case=case, because=why)


@points(1)
@of("multi_head_attention")
def test_attention_refuses_other_ranks(submission):
    """x has rank 3 and every weight rank 2; anything else is refused by name."""
    for name in WEIGHTS:
        for shape in (FITTING[name][1:], (1, *FITTING[name])):
            bad, case = filled({**FITTING, name: shape}), f"{name} of shape {shape} instead of {FITTING[name]}"
            why = f"{name} has rank {len(FITTING[name])}, and nothing else is guessed."
            refuses(lambda a=bad: submission.multi_head_attention(*a), (name,), case=case, because=why)


@points(2)
@of("multi_head_attention")
def test_attention_refuses_weights_that_do_not_fit(submission):
    """Weights whose sizes do not fit x, the head counts or each other are refused, also where broadcasting would hide it."""
    for changes, names in ((OTHER_D, WEIGHTS), (OTHER_DH, (*WEIGHTS, "n_heads", "n_kv_heads"))):
        for change in changes:
            sizes = {**FITTING, **change}
            bad, case = filled(sizes), ", ".join(f"{name}: {size}" for name, size in sizes.items())
            asked = " and ".join(f"{name} is {size}" for name, size in FITTING.items() if name in change)
            why = f"With 4 heads of width 3, 2 for keys and values, and D = 7, {asked}; here it doesn't fit the rest."
            refuses(lambda a=bad: submission.multi_head_attention(*a), names, case=case, because=why)


@points(1)
@of("multi_head_attention")
@after("one-head-is-plain-attention")
def test_attention_refuses_masks_that_do_not_broadcast(submission, rng):
    """A mask that does not broadcast to (B, H, T, T) is refused, also where the scores would stretch to fit it."""
    for (b, t, h, g), shapes in MISFIT_MASKS:
        for shape in shapes:
            asked = (*drawn(rng, b, t, 5, h, g, 3), h, g, np.ones(shape, dtype=bool))
            case = f"mask of shape {shape}, B={b}, H={h}, T={t}"
            why = f"{shape} does not broadcast to the scores, {(b, h, t, t)}."
            refuses(lambda a=asked: submission.multi_head_attention(*a), ("mask", "x", "n_heads"), case=case, because=why)


# ---------------------------------------------------------------- attention: groups, masks, precision


@points(2)
@of("multi_head_attention")
@after("every-head-attends-by-itself", "a-key-head-serves-neighbouring-query-heads")
def test_query_heads_share_key_heads_in_groups(submission, rng):
    """With n_kv_heads given, query head h uses key/value head h // (n_heads / n_kv_heads); None means n_heads."""
    for sizes in GROUPED:
        (*_, h, g, _), args, case = sizes, drawn(rng, *sizes), SIZES.format(*sizes)
        same(submission.multi_head_attention(*args, h, g), attention(*args, h, g), dtype="float64", case=case)
        if g == h:
            same(submission.multi_head_attention(*args, h, None), attention(*args, h), dtype="float64", case="n_kv_heads=None, " + case)


@points(1)
@of("multi_head_attention")
@after("a-call-knows-nothing-of-earlier-calls", "true-means-may-attend")
def test_a_mask_is_forgotten_after_its_call(submission, rng):
    """Two sequences with masks of their own give the same in one batch as one after the other."""
    x, *weights = drawn(rng, 2, 4, 6, 2, 2, 3)
    one_by_one(submission, x, weights, np.stack([sieve(4), sieve(4).T])[:, None])


@points(2)
@of("multi_head_attention")
@after("a-mask-is-forgotten-after-its-call", "true-means-may-attend", "every-head-attends-by-itself")
def test_a_mask_takes_keys_out_of_the_softmax(submission, rng):
    """With a mask the softmax runs over the visible keys alone: their weights sum to 1, row by row."""
    x, w_q, w_k, w_v, w_o = drawn(rng, 2, 4, 6, 3, 3, 5)
    x[..., 0], w_v[1:] = 1, 0
    got, want = submission.multi_head_attention(x, w_q, w_k, w_v, w_o, 3, None, sieve(4)), np.broadcast_to(w_v[0] @ w_o, x.shape)
    why = "All values are equal, so their weighted mean is that value: the weights of the visible keys sum to 1."
    same(got, want, dtype="float64", case="every token has the same value, query i sees all keys but i + 1, i + 4, ...", because=why)
    for case, mask in [("query i sees all keys but i - 2, i + 1, i + 4", sieve(5)), ("mask lower triangle", np.tri(5, dtype=bool))]:
        args = drawn(rng, 2, 5, 6, 3, 3, 4)
        same(submission.multi_head_attention(*args, 3, None, mask), attention(*args, 3, mask=mask), dtype="float64", case=f"T=5, {case}")


@points(2)
@of("multi_head_attention")
@after("a-mask-takes-keys-out-of-the-softmax", "query-heads-share-key-heads-in-groups")
def test_the_mask_broadcasts_to_the_scores(submission, rng):
    """A mask of any shape that broadcasts to (B, H, T, T) means what broadcasting says."""
    for b, t, d, h, g, dh in [(2, 4, 5, 3, 3, 2), (3, 3, 4, 3, 3, 2), (2, 5, 6, 4, 2, 3)]:
        args = drawn(rng, b, t, d, h, g, dh)
        low = [(h, 1, t), (1, t, t), (h, t, t), (1, t), (t, t), (t,), ()]
        for shape in [(b, 1, 1, t), (1, 1, t, t), (b, 1, t, t), (1, h, 1, t), (b, h, t, t), (b, h, 1, t), (1, h, t, t), (1, 1, 1, t), *low]:
            mask = rng.random(shape) < 0.5 if shape else np.ones(shape, dtype=bool)
            if shape:
                mask[..., rng.integers(t)] = True
            sent = tensor(mask, order=tuple(reversed(range(mask.ndim)))) if mask.ndim > 1 else tensor(mask)
            case = f"mask of shape {shape}, " + SIZES.format(b, t, d, h, g, dh)
            same(submission.multi_head_attention(*args, h, g, sent), attention(*args, h, g, mask), dtype="float64", case=case)


@points(1)
@of("multi_head_attention")
@after("a-mask-takes-keys-out-of-the-softmax")
def test_hidden_keys_stay_hidden(submission, rng):
    """Hidden keys get no weight and no gradient, however large their scores are and however low the visible ones."""
    args, mask = drawn(rng, 2, 5, 6, 2, 2, 4), np.ones((5, 5), dtype=bool)
    mask[:, 4], args[0][..., 0], args[0][:, 4, 0], args[1][0] = False, 0, 6000, 0
    case, up = "the hidden key's scores reach thousands", rng.standard_normal((2, 5, 6))
    same(submission.multi_head_attention(*args, 2, mask=mask), attention(*args, 2, mask=mask), dtype="float64", case=case)
    _, grads = submission.vjp("multi_head_attention", *args, 2, None, mask, wrt=(0, 1, 2, 3, 4), cotangent=up)
    for name, grad, right in zip(WEIGHTS, grads, pull_back(*args, 2, 2, mask, up), strict=True):
        if isinstance(grad, Result):
            same(grad, right, tol=1e-8, atol=1e-12, case=f"gradient of {name}, {case}")
    args, mask = drawn(rng, 2, 4, 16, 4, 4, 16), np.roll(np.eye(4, dtype=bool), 1, axis=1)  # powers of 4 and 16: every way to scale is exact
    args[0][..., 0] = 1
    for weight, height in zip(args[1:3], (2.0**70, -(2.0**70)), strict=True):
        weight[:], weight[0] = 0, height
    want = attention(*args, 4, mask=mask)
    case, why = "every score far below zero, one key visible to each query", "A key that is seen alone gets all the weight, however low its score is."
    same(submission.multi_head_attention(*args, 4, mask=mask), want, dtype="float64", case=case, because=why)


@points(1)
@of("multi_head_attention")
@after("every-head-attends-by-itself")
def test_large_scores_stay_finite(submission, rng):
    """Scores of several thousand give finite and right results."""
    args = drawn(rng, 2, 5, 6, 3, 3, 4, sharp=1500.0)
    same(submission.multi_head_attention(*args, 3), attention(*args, 3), dtype="float64", case="scores in the thousands")


@points(2)
@of("multi_head_attention")
@after("every-head-attends-by-itself")
def test_half_precision_is_computed_in_float32(submission, rng):
    """float16 and bfloat16 inputs give a result of their dtype, computed in float32 and cast back once."""
    kinds = (("ordinary values", drawn), ("keys and values far from zero", far_from_zero), ("projections above 65504", huge_inside))
    for dtype in ("float16", "bfloat16"):
        for case, make in kinds:
            sent = [tensor(a, dtype) for a in make(rng, 2, 5, 12, 4, 2, 4)]
            want = attention(*(widened(a) for a in sent), 4, 2)
            same(submission.multi_head_attention(*sent, 4, 2), want, dtype=dtype, case=f"{dtype}, {case}")
    for dtype in FLOATS[1:]:
        sent = [tensor(a, dtype) for a in drawn(rng, 2, 5, 12, 4, 2, 4)]
        want = attention(*(widened(a) for a in sent), 4, 2, sieve(5))
        same(submission.multi_head_attention(*sent, 4, 2, sieve(5)), want, dtype=dtype, case=f"{dtype}, with a mask")
    args, why = nearly_cancelling(rng), "Weights stay float32 until the values are averaged, and the result is cast back once, at the end."
    got = submission.multi_head_attention(*(tensor(a, "bfloat16") for a in args), 1)
    same(got, attention(*args, 1), dtype="bfloat16", case="bfloat16, values of 60 whose mean is small", because=why)
    (x, *weights), mask = far_below(rng), sieve(4)
    case, why = "float16, every score near -131072, with a mask", "No finite number of float16 lies below every score: hide with -inf, or with one of float32's."
    got = submission.multi_head_attention(*(tensor(a, "float16") for a in (x, *weights)), 2, None, mask)
    same(got, attention(x, *weights, 2, None, mask), dtype="float16", tol=0.05, case=case, because=why)


@points(1)
@of("multi_head_attention")
@after("query-heads-share-key-heads-in-groups")
def test_attention_follows_values_not_memory(submission, rng):
    """The result is the same for every memory layout of x and of the weights, and for arguments given by name."""
    args = drawn(rng, 2, 5, 6, 4, 2, 3)
    want, named = attention(*args, 4, 2), dict(zip(WEIGHTS, args, strict=True))
    got = submission.multi_head_attention(**named, n_heads=4, n_kv_heads=2, mask=None)
    same(got, want, dtype="float64", case="every argument given by name")
    for layout, x in layouts(args[0], "float64"):
        same(submission.multi_head_attention(x, *args[1:], 4, 2), want, dtype="float64", case=f"x with {layout}")
    turned = [tensor(w, order=(1, 0)) for w in args[1:]]
    same(submission.multi_head_attention(args[0], *turned, 4, 2), want, dtype="float64", case="weights that are transposes in memory")
    gapped = [tensor(w, gap=2, guard=3) for w in args[1:]]
    same(submission.multi_head_attention(args[0], *gapped, 4, 2), want, dtype="float64", case="weights with gaps between their rows")


@points(1)
@of("multi_head_attention")
@after("query-heads-share-key-heads-in-groups", "a-mask-takes-keys-out-of-the-softmax")
def test_attention_remembers_nothing(submission, rng):
    """A result of multi_head_attention depends on the arguments of its own call alone, before and after other calls."""
    args, other, mask = drawn(rng, 2, 4, 6, 4, 2, 3), drawn(rng, 2, 4, 6, 4, 2, 3), sieve(4)
    want = attention(*args, 4, 2, mask)
    first = submission.multi_head_attention(*args, 4, 2, mask, _keep=True)
    same(first, want, case="the first call")
    why = "The result depends on the arguments of its own call alone."
    for case, asked in {
        "other x": (other[0], *args[1:], 4, 2, mask),
        "other weights": (args[0], *other[1:], 4, 2, mask),
        "another mask": (*args, 4, 2, mask.T),
        "no mask": (*args, 4, 2, None),
    }.items():
        same(submission.multi_head_attention(*asked), attention(*asked), case=f"a later call, {case}", because=why)
    got = submission.multi_head_attention(*args, 4, 2, mask, _before=(*other, mask.T))
    told = "It is tensors that are remembered here, and not what is in them: their caller had changed them in place."
    same(got, want, case="the same tensors with new values", because=told)
    kept = "A result that was handed out belongs to its caller; no later call may change it."
    same(submission.reread(first), want, case="the first result, read again after other calls", because=kept)
    submission.scribble(first)
    again = submission.multi_head_attention(*args, 4, 2, mask)
    same(again, want, case="the first arguments again, after a caller has overwritten the first result", because=why)


# ---------------------------------------------------------------- over all calls above


@points(2)
@of(*PARAMETERS)
def test_no_call_changes_an_argument_or_global_state(submission, rng):
    """No call, of all that were made until here, changes an argument, the random generator or any other global state."""
    x, heads, mask = rng.standard_normal((2, 3, 4)), rng.standard_normal((2, 2, 3, 2)), np.tri(3, dtype=bool)
    last = {"split_heads": (x, 2), "merge_heads": (heads,), "repeat_kv": (heads, 2)}
    last["multi_head_attention"] = (x, *[np.eye(4)] * 4, 2, 2, mask)
    for name, args in last.items():
        getattr(submission, name)(*args)
        calls = [call for call in submission.calls if call.function == name]
        changed = sorted({PARAMETERS[name][int(place)] if place.isdigit() else place for call in calls for place in call.mutated})
        touched = sorted({what for call in calls for what in call.touched})
        told = f"In place: {name} changes its argument {' and '.join(changed)}, which the caller still needs"
        claim(not changed, told, case=f"{len(calls)} calls of {name}")
        claim(not touched, f"Calling {name} changes global state: {', '.join(touched)}", case=f"{len(calls)} calls of {name}")
