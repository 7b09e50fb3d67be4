"""Exercise 03, claim by claim: masks, masked softmax, causal attention.

Oracles are NumPy in float64. Sizes are small, awkward and all different; hidden scores, the future and the rows that see nothing
are where the mistakes are, so most claims look there.
"""

import itertools

import numpy as np

from attngrade.checks.claims import Raised, after, claim, device_arg, expect, expect_same, of, points, refuses, stretch, tensor

SQUARE, CACHE, SHORT = [(1, 1), (2, 2), (5, 5)], [(1, 2), (2, 3), (1, 4), (3, 7)], [(2, 1), (3, 2), (7, 3)]


def visible(t_q, t_k):
    """True where key j may be seen by query i: j <= i + (t_k - t_q)."""
    return np.arange(t_k)[None, :] <= np.arange(t_q)[:, None] + (t_k - t_q)


def softmax(scores, mask):
    """Weights among the visible keys, zero elsewhere, zero in a row that sees nothing."""
    mask = np.broadcast_to(mask, scores.shape)
    shown = np.where(mask, scores.astype(np.float64), -np.inf)
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
    q, k, v, up = (x.astype(np.float64) for x in (q, k, v, up))
    scale = q.shape[-1] ** -0.5
    weights = softmax(q @ k.swapaxes(-1, -2) * scale, visible(q.shape[-2], k.shape[-2]))
    to_scores = softmax_pulled_back(weights, up @ v.swapaxes(-1, -2)) * scale
    return to_scores @ k, to_scores.swapaxes(-1, -2) @ q, weights.swapaxes(-1, -2) @ up


def qkv(rng, t_q, t_k, batch=2, heads=3, width=5, dtype="float32"):
    """Queries, keys and values, each of them standard normal."""
    return tuple(rng.standard_normal((batch, heads, t, width)).astype(dtype) for t in (t_q, t_k, t_k))


def coarse(rng, shape, top=16):
    """Eighths of small whole numbers: exact in every float dtype."""
    return rng.integers(-top, top + 1, shape) / 8.0


def some_mask(rng, shape):
    """A random mask with something visible in every row, and something hidden where there is room."""
    mask = rng.random(shape) < 0.5
    np.put_along_axis(mask, rng.integers(0, shape[-1], (*shape[:-1], 1)), True, -1)
    if shape[-1] > 1:
        np.put_along_axis(mask, np.argmax(mask, -1)[..., None] - 1, False, -1)
    return mask


def sizes(t_q, t_k):
    return f"T_q={t_q}, T_k={t_k}"


# ---------------------------------------------------------------- causal_mask


@points(1)
@of("causal_mask")
def test_present_and_past(submission):
    """Query i sees key j exactly when j <= i: boolean, True = may attend, as many keys as queries if t_k isn't given."""
    for t, _ in SQUARE:
        expect(submission.causal_mask(t), visible(t, t), dtype="bool", case=f"T={t}")
    expect(submission.causal_mask(3, None), visible(3, 3), dtype="bool", case="t_k=None")
    expect(submission.causal_mask(t_q=4, t_k=4), visible(4, 4), dtype="bool", case="arguments by name")


@points(2)
@of("causal_mask")
def test_last_query_on_last_key(submission):
    """With more keys than queries, as over a cache, the last query sits on the last key and the extra keys are the past."""
    for t_q, t_k in CACHE:
        expect(submission.causal_mask(t_q, t_k), visible(t_q, t_k), dtype="bool", case=sizes(t_q, t_k))


@points(2)
@of("causal_mask")
def test_first_queries_see_nothing(submission):
    """With more queries than keys the last query still sits on the last key, and the first queries see nothing at all."""
    for t_q, t_k in SHORT:
        expect(submission.causal_mask(t_q, t_k), visible(t_q, t_k), dtype="bool", case=sizes(t_q, t_k))


@points(1)
@of("causal_mask")
def test_mask_on_the_asked_device(submission, device):
    """The causal mask lies on the device that was asked for, given as a string or as a torch.device."""
    for asked in (device, device_arg(device)):
        got = submission.causal_mask(2, 3, device=asked)
        expect(got, visible(2, 3), dtype="bool", case=f"device={device}")
        claim(got.device == device, f"causal_mask: the mask lies on {got.device} where {device} was asked", got=got)
    try:
        got = submission.causal_mask(2, 3, device="meta")  # a device of shapes without values: present everywhere
    except Raised:
        return  # no submission has to know it
    claim(getattr(got, "device", "meta") == "meta", "causal_mask takes no notice of `device`: asked for another device, it answers on the CPU", got=got)


@points(1)
@of("causal_mask")
def test_negative_sizes_refused(submission):
    """A negative size is a ValueError that names it."""
    refuses(lambda: submission.causal_mask(-1), ("t_q", "t_k"), case="t_q=-1")
    refuses(lambda: submission.causal_mask(3, -1), ("t_k",), case="t_q=3, t_k=-1")
    refuses(lambda: submission.causal_mask(-2, 3), ("t_q",), case="t_q=-2, t_k=3")


# ---------------------------------------------------------------- padding_mask


@points(1)
@of("padding_mask")
def test_padding_hides_the_tail(submission):
    """Key j of row b is visible exactly when j < lengths[b]: boolean, shape (B, 1, 1, t_k), lengths of 0 and t_k included."""
    for lengths, t_k in [([2], 3), ([1, 3], 3), ([3, 0, 5, 1], 5), ([4, 2], 7), ([1], 1)]:
        want = (np.arange(t_k) < np.array(lengths)[:, None])[:, None, None, :]
        expect(submission.padding_mask(np.array(lengths), t_k), want, dtype="bool", case=f"lengths={lengths}, t_k={t_k}")
    expect(submission.padding_mask(lengths=np.array([1, 2]), t_k=4), (np.arange(4) < [[[[1]]], [[[2]]]]), dtype="bool", case="arguments by name")


@points(1)
@of("padding_mask")
def test_lengths_outside_refused(submission):
    """A length below 0 or above t_k is a ValueError that names it, wherever it stands among the lengths."""
    for lengths, t_k in [([4], 3), ([-1], 3), ([2, 6, 1], 5), ([5, 3, -2], 5), ([6, 1], 5), ([0, -1], 2), ([9, -3, 2], 4)]:
        refuses(lambda lengths=lengths, t_k=t_k: submission.padding_mask(np.array(lengths), t_k), ("lengths", "t_k"), case=f"lengths={lengths}, t_k={t_k}")


# ---------------------------------------------------------------- mask_scores


@points(1)
@of("mask_scores")
def test_hidden_scores_are_minus_infinity(submission, rng):
    """Hidden scores become -inf and visible ones stay the very same numbers, in every float dtype."""
    for dtype in ("float32", "float64", "float16", "bfloat16"):
        scores, mask = coarse(rng, (3, 4)), some_mask(rng, (3, 4))
        got = submission.mask_scores(tensor(scores, dtype), mask)
        expect(got, np.where(mask, scores, -np.inf), dtype=dtype, tol=0.0, case=dtype)
    scores = rng.standard_normal((2, 3)) * 1e9
    got = submission.mask_scores(scores=scores, mask=np.zeros((2, 3), bool))
    expect(got, np.full((2, 3), -np.inf), dtype="float64", case="everything is hidden")


@points(1)
@of("mask_scores")
def test_masks_broadcast(submission, rng):
    """Any boolean mask that broadcasts to the shape of the scores will do, for scores with any number of axes."""
    shapes = [((4,), (4,)), ((3, 4), (4,)), ((3, 4), (3, 1)), ((3, 4), ()), ((2, 3, 4, 5), (4, 5)), ((2, 3, 4, 5), (2, 1, 1, 5)),
              ((2, 3, 4, 5), (3, 1, 5)), ((2, 1, 3, 2, 4), (2, 4)), ((3, 3, 3), (3, 1, 3))]
    for shape, mask_shape in shapes:
        scores, mask = rng.standard_normal(shape), some_mask(rng, mask_shape) if mask_shape else np.array(True)
        got = submission.mask_scores(scores, mask)
        expect(got, np.where(mask, scores, -np.inf), dtype="float64", tol=0.0, case=f"scores {shape}, mask {mask_shape}")


@points(1)
@of("mask_scores")
def test_masks_of_numbers_refused(submission, rng):
    """A mask of numbers is a ValueError that names it: 0 and 1, 0 and -inf mean other things to other people."""
    for dtype in ("float32", "int64", "uint8", "float64"):
        mask = tensor(some_mask(rng, (2, 3)), dtype)
        refuses(lambda mask=mask: submission.mask_scores(coarse(rng, (2, 3)), mask), ("mask",), case=f"a mask of {dtype}")


@points(1)
@of("mask_scores")
def test_masks_that_do_not_fit_refused(submission, rng):
    """A mask that doesn't broadcast to the shape of the scores, or would enlarge them, is a ValueError that names it."""
    for shape, mask_shape in [((3, 4), (3, 5)), ((3, 4), (2, 4)), ((3, 1), (3, 4)), ((3, 4), (2, 3, 4)), ((1, 2, 3), (2, 2, 3)), ((3, 4), (1, 3, 4))]:
        mask = np.ones(mask_shape, bool)
        refuses(lambda shape=shape, mask=mask: submission.mask_scores(rng.standard_normal(shape), mask), ("mask", "scores"),
                case=f"scores {shape}, mask {mask_shape}")


@points(1)
@of("mask_scores")
@after("hidden-scores-are-minus-infinity")
def test_visible_scores_pass_the_gradient(submission, rng):
    """The gradient reaches the visible scores unchanged."""
    scores, mask, up = rng.standard_normal((2, 3, 4)), some_mask(rng, (3, 4)), rng.standard_normal((2, 3, 4))
    _, (grad,) = submission.vjp("mask_scores", scores, mask, wrt=(0,), cotangent=np.where(mask, up, 0.0))
    claim(grad is not None and grad.shape == scores.shape, "mask_scores: no gradient reaches the scores", got=grad)
    claim(np.array_equal(grad.array[..., mask], up[..., mask]), "mask_scores: the gradient at the visible scores isn't the one that came in", got=grad)


# ---------------------------------------------------------------- masked_softmax


@points(1)
@of("masked_softmax")
def test_weights_are_shared_among_the_visible(submission, rng):
    """Weights follow exp(score) along the last axis: hidden keys get exactly 0, and the visible ones share 1."""
    cases = [((4,), (4,)), ((2, 3), (2, 3)), ((3, 3), (3, 3)), ((3, 4), (4,)), ((3, 4), (3, 1)), ((2, 3, 4, 5), (2, 1, 1, 5)), ((2, 1, 3, 2, 4), (2, 4))]
    for (shape, mask_shape), dtype in zip(cases, itertools.cycle(("float64", "float32")), strict=False):
        scores, mask = (2 * rng.standard_normal(shape)).astype(dtype), some_mask(rng, mask_shape) if mask_shape[-1] > 1 else np.ones(mask_shape, bool)
        got, case = submission.masked_softmax(scores, mask), f"scores {shape}, mask {mask_shape}, {dtype}"
        want = softmax(scores, mask)
        if got.shape == want.shape:
            claim(np.all(got.array[want == 0] == 0), "masked_softmax: a hidden key has a weight that isn't exactly 0", got=got, want=want, case=case)
            claim(np.allclose(got.array.sum(-1), 1, rtol=0, atol=1e-4), "masked_softmax: the weights of the visible keys don't sum to 1", got=got, want=want, case=case)
        expect(got, want, dtype=dtype, case=case)


@points(1)
@of("masked_softmax")
def test_hidden_scores_never_matter(submission, rng):
    """The weights are those of the visible keys, however large the hidden scores are."""
    for dtype, huge in [("float32", 50.0), ("float32", 1e4), ("float64", 1e30), ("float32", 1e30), ("float64", 1e305), ("float32", 3.4e38), ("float16", 65504.0)]:
        for sign in (1, -1):
            mask = some_mask(rng, (2, 3, 4))
            scores = np.where(mask, coarse(rng, (2, 3, 4)), sign * huge).astype(dtype)
            expect(submission.masked_softmax(scores, mask), softmax(scores, mask), dtype=dtype, case=f"hidden scores of {sign * huge:g}, {dtype}")


@points(1)
@of("masked_softmax")
def test_visible_scores_of_any_size(submission, rng):
    """Visible scores may be of any finite size, row by row: nothing overflows and no row drowns because of another."""
    for dtype, size in [("float32", 150.0), ("float64", 800.0)]:
        base = np.array([[size], [0.0], [-size], [size / 2]])
        scores, mask = (base + coarse(rng, (4, 5))).astype(dtype), some_mask(rng, (4, 5))
        expect(submission.masked_softmax(scores, mask), softmax(scores, mask), dtype=dtype, case=f"rows of scores near {size:g}, 0 and -{size:g}, {dtype}")
    for low in (-1e10, -1e30):
        scores, mask = np.array([[0.5, low, 1.0]]), np.array([[False, True, False]])
        expect(submission.masked_softmax(scores, mask), mask.astype(float), dtype="float64", case=f"one visible key, with the score {low:g}")


@points(2)
@of("masked_softmax")
def test_empty_rows_are_zero(submission, rng):
    """A row that sees nothing is all zeros, no NaN, and leaves the other rows as they are."""
    for shape in [(3, 4), (2, 3, 5), (1,), (2, 2, 2, 3)]:
        mask = some_mask(rng, shape)
        mask[..., 0, :] = False
        mask = np.zeros(shape, bool) if len(shape) == 1 else mask
        scores = rng.standard_normal(shape)
        expect(submission.masked_softmax(scores, mask), softmax(scores, mask), dtype="float64", case=f"scores {shape}, the first row sees nothing")
    for dtype, mask in [("float32", np.zeros((3, 1), bool)), ("float32", np.array([[True], [False], [True]])), ("float16", np.zeros((3, 4), bool))]:
        scores = coarse(rng, (3, 4)).astype(dtype)
        expect(submission.masked_softmax(scores, mask), softmax(scores, mask), dtype=dtype, case=f"scores (3, 4), mask {mask.shape}, {dtype}")


@points(1)
@of("masked_softmax")
@after("weights-are-shared-among-the-visible", "hidden-scores-never-matter")
def test_softmax_gradient(submission, rng):
    """The gradient is the softmax's own among the visible keys and zero at hidden ones, whose scores may be huge."""
    for shape, huge in [((2, 3), 1.0), ((3, 2, 4), 1.0), ((2, 5), 1e4), ((3, 4), 1e300)]:
        mask, up = some_mask(rng, shape), rng.standard_normal(shape)
        scores = np.where(mask, rng.standard_normal(shape), huge)
        got, (grad,) = submission.vjp("masked_softmax", scores, mask, wrt=(0,), cotangent=up)
        expect(grad, softmax_pulled_back(softmax(scores, mask), up), dtype="float64", case=f"gradient, scores {shape}, hidden ones near {huge:g}")


@points(2)
@of("masked_softmax")
@after("weights-are-shared-among-the-visible", "empty-rows-are-zero")
def test_empty_rows_have_zero_gradient(submission, rng):
    """A row that sees nothing has a gradient of zero, not NaN, and the other rows keep theirs."""
    for dtype, shape in [("float64", (2, 3)), ("float32", (2, 3, 4)), ("float64", (1, 5))]:
        mask, up = some_mask(rng, shape), rng.standard_normal(shape)
        mask[..., -1, :] = False
        scores = rng.standard_normal(shape).astype(dtype)
        _, (grad,) = submission.vjp("masked_softmax", scores, mask, wrt=(0,), cotangent=up.astype(dtype))
        want = softmax_pulled_back(softmax(scores, mask), up.astype(dtype).astype(np.float64))
        expect(grad, want, dtype=dtype, atol=1e-12 if dtype == "float64" else 1e-6, case=f"gradient, scores {shape}, the last row sees nothing, {dtype}")


@points(1)
@of("masked_softmax")
@after("weights-are-shared-among-the-visible", "empty-rows-are-zero")
def test_softmax_of_half_precision(submission, rng):
    """With float16 and bfloat16 scores the sums run in float32, and the weights come back in the scores' dtype."""
    for dtype in ("float16", "bfloat16"):
        scores, mask = coarse(rng, (3, 7), top=60), some_mask(rng, (3, 7))
        expect(submission.masked_softmax(tensor(scores, dtype), mask), softmax(scores, mask), dtype=dtype, case=dtype)
    for dtype, n in [("bfloat16", 3001), ("float16", 70001)]:
        got = submission.masked_softmax(tensor(np.zeros((1, n)), dtype), np.array(True))
        expect(got, np.full((1, n), 1 / n), dtype=dtype, case=f"{n} equal scores in {dtype}")


# ---------------------------------------------------------------- causal_attention


@points(1)
@of("causal_attention")
def test_attention_over_present_and_past(submission, rng):
    """Each output is the average of the values up to its own place, with weights from q.k / sqrt(Dh)."""
    for t, width, dtype in [(1, 3, "float64"), (2, 1, "float64"), (2, 3, "float64"), (6, 5, "float64"), (3, 3, "float32"), (5, 16, "float32")]:
        q, k, v = qkv(rng, t, t, width=width, dtype=dtype)
        expect(submission.causal_attention(q, k, v), attention(q, k, v), dtype=dtype, case=f"T={t}, Dh={width}, {dtype}")
    q, k, v = qkv(rng, 4, 4, batch=1, heads=1)
    expect(submission.causal_attention(q=q, k=k, v=v), attention(q, k, v), dtype="float32", case="B=1, H=1, arguments by name")


@points(2)
@of("causal_attention")
@after("attention-over-present-and-past")
def test_attention_over_a_cache(submission, rng):
    """With more keys than queries the last query sits on the last key."""
    for (t_q, t_k), dtype in zip(CACHE, ("float64", "float32", "float32", "float64"), strict=True):
        q, k, v = qkv(rng, t_q, t_k, dtype=dtype)
        expect(submission.causal_attention(q, k, v), attention(q, k, v), dtype=dtype, case=sizes(t_q, t_k))


@points(1)
@of("causal_attention")
@after("attention-over-present-and-past")
def test_outputs_of_queries_that_see_nothing(submission, rng):
    """With more queries than keys, the first outputs are zero and the others sit at the end of the keys."""
    for (t_q, t_k), dtype in zip(SHORT, ("float64", "float32", "float64"), strict=True):
        q, k, v = qkv(rng, t_q, t_k, dtype=dtype)
        expect(submission.causal_attention(q, k, v), attention(q, k, v), dtype=dtype, case=sizes(t_q, t_k))


@points(2)
@of("causal_attention")
def test_future_leaves_every_bit(submission, rng):
    """Changing the queries, keys and values of the future, however much, leaves an output bit for bit as it was."""
    for (t_q, t_k), dtype in [((4, 4), "float32"), ((3, 5), "float32"), ((5, 3), "float64"), ((4, 4), "float16")]:
        q, k, v = qkv(rng, t_q, t_k, dtype=dtype)
        before = submission.causal_attention(q, k, v)
        for i, size in itertools.product(range(max(0, t_q - t_k), t_q), (1.0, 1e4, 1e30)):
            if size == 1e30 and dtype == "float16":
                continue
            q2, k2, v2 = q.copy(), k.copy(), v.copy()
            for x, first in ((q2, i + 1), (k2, i + 1 + t_k - t_q), (v2, i + 1 + t_k - t_q)):
                if size < 1e30 or x is not q2:  # a score of 1e30 * 1e30 isn't finite in float32
                    x[:, :, first:] = (x[:, :, first:].astype(np.float64) + size * rng.choice([-1, 1], x[:, :, first:].shape)).astype(dtype)
            after_all = submission.causal_attention(q2, k2, v2)
            expect_same(_rows(after_all, i), _rows(before, i), case=f"{sizes(t_q, t_k)}, query {i}, its future moved by {size:g}, {dtype}",
                        because="An output moved although only the future of its query was changed")


def _rows(result, i):
    """The outputs of queries 0 to i, still with the recorded call."""
    result.array = result.array if result.array.ndim < 3 else result.array
    return type(result)(result.array[:, :, : i + 1] if result.array.ndim == 4 else result.array, result.dtype, result.kind, result.facts, result.call)


@points(2)
@of("causal_attention")
@after("attention-over-present-and-past", "attention-over-a-cache", "outputs-of-queries-that-see-nothing")
def test_attention_gradients(submission, rng):
    """Gradients reach queries, keys and values, and are finite and right where a query sees nothing, too."""
    for t_q, t_k in [(3, 3), (2, 4), (4, 2)]:
        q, k, v = qkv(rng, t_q, t_k, dtype="float64")
        up = rng.standard_normal(q.shape)
        _, grads = submission.vjp("causal_attention", q, k, v, wrt=(0, 1, 2), cotangent=up)
        for name, grad, want in zip("qkv", grads, attention_pulled_back(q, k, v, up), strict=True):
            expect(grad, want, dtype="float64", atol=1e-12, case=f"gradient of {name}, {sizes(t_q, t_k)}")


@points(1)
@of("causal_attention")
@after("attention-over-present-and-past", "attention-over-a-cache")
def test_half_precision_is_for_the_door(submission, rng):
    """With float16 and bfloat16, scores, weights and sums live in float32 and the result is cast back once."""
    for dtype in ("float16", "bfloat16"):
        q, k, v = (coarse(rng, (2, 2, t, 6)) for t in (3, 5, 5))
        expect(_attend(submission, dtype, q, k, v), attention(q, k, v), dtype=dtype, case=f"{dtype}, ordinary values")
        q[..., 0], k[..., 0] = 60.0, 60.0  # lifts every score by the same 1470
        expect(_attend(submission, dtype, q, k, v), attention(q, k, v), dtype=dtype, case=f"{dtype}, scores near 1470 that differ by little")
        q, k = np.full((1, 2, 1, 4), 136.0), np.full((1, 2, 6, 4), 136.0)  # q.k = 73984, more than float16 can hold
        k[:, :, ::2] = 128.0
        v = coarse(rng, k.shape)
        expect(_attend(submission, dtype, q, k, v), attention(q, k, v), dtype=dtype, case=f"{dtype}, q.k = 73984 before the scale")
        q, k, v = _cancelling(rng)
        expect(_attend(submission, dtype, q, k, v), attention(q, k, v), dtype=dtype, case=f"{dtype}, values of 60 that nearly cancel")


def _attend(submission, dtype, *qkv):
    return submission.causal_attention(*(tensor(x, dtype) for x in qkv))


def _cancelling(rng):
    """One query whose average is small beside the values: a weight rounded to half precision shows."""
    q, k = coarse(rng, (1, 2, 1, 6), top=8), coarse(rng, (1, 2, 9, 6), top=8)
    v = rng.uniform(-60, 60, k.shape)
    for _ in range(3):
        v = np.round(2 * (v - attention(q, k, v))) / 2
    return q, k, v


@points(1)
@of("causal_attention", "masked_softmax", "mask_scores")
@after("attention-over-present-and-past", "weights-are-shared-among-the-visible", "hidden-scores-are-minus-infinity", "masks-broadcast")
def test_layout_in_memory_changes_nothing(submission, rng):
    """Transposed and strided arguments give what their contiguous copies give."""
    scores, mask = rng.standard_normal((2, 3, 4)), some_mask(rng, (3, 4))
    turned = {"scores": tensor(scores, order=(2, 0, 1)), "mask": tensor(mask, order=(1, 0))}
    expect(submission.mask_scores(**turned), np.where(mask, scores, -np.inf), dtype="float64", tol=0.0, case="scores and mask are transposed views")
    expect(submission.masked_softmax(**turned), softmax(scores, mask), dtype="float64", case="scores and mask are transposed views")
    q, k, v = qkv(rng, 3, 4, dtype="float64")
    views = [("(B, T, H, Dh) in memory", {"order": (0, 2, 1, 3)}), ("(B, H, Dh, T) in memory", {"order": (0, 1, 3, 2)}), ("rows with gaps", {"gap": 3, "guard": 2})]
    for case, layout in views:
        got = submission.causal_attention(*(tensor(x, **layout) for x in (q, k, v)))
        expect(got, attention(q, k, v), dtype="float64", case=f"q, k and v lie as {case}")


# ---------------------------------------------------------------- manners


@points(1)
@of("padding_mask", "mask_scores", "masked_softmax", "causal_attention")
def test_arguments_stay_as_they_were(submission, rng):
    """No function writes into its arguments or into global state."""
    mask, scores = some_mask(rng, (3, 4)), rng.standard_normal((2, 3, 4))
    mask[0] = False
    calls = [("padding_mask", ("lengths", "t_k"), (np.array([3, 0, 5]), 5)), ("mask_scores", ("scores", "mask"), (scores, mask)),
             ("masked_softmax", ("scores", "mask"), (scores, mask)), ("masked_softmax", ("scores", "mask"), (scores.astype("float32"), mask)),
             ("causal_attention", "qkv", qkv(rng, 3, 4)), ("causal_attention", "qkv", qkv(rng, 4, 3, dtype="float64")), ("causal_mask", ("t_q", "t_k"), (2, 3))]
    for function, names, args in calls:
        got = getattr(submission, function)(*args)
        changed = [f"`{names[int(place)]}`" for place in submission.mutated() if place.isdigit() and int(place) < len(names)]
        claim(not changed, f"{function} writes into its argument {' and '.join(changed)}: the caller's tensor isn't what it was", got=got)
        claim(not submission.touched(), f"{function} changes global state: {', '.join(submission.touched())}", got=got)


@points(1)
@of("causal_mask", "padding_mask", "masked_softmax", "causal_attention")
@after("last-query-on-last-key", "first-queries-see-nothing", "padding-hides-the-tail", "weights-are-shared-among-the-visible", "attention-over-present-and-past",
       "attention-over-a-cache", "outputs-of-queries-that-see-nothing")
def test_calls_know_nothing_of_each_other(submission, rng):
    """A result depends on its own arguments alone, whatever was called before and whatever was done to earlier results."""
    for t_q, t_k in [(3, 5), (3, 4), (2, 5), (5, 3), (3, 5), (4, 3)]:
        got = submission.causal_mask(t_q, t_k, _keep=True)
        expect(got, visible(t_q, t_k), dtype="bool", case=f"{sizes(t_q, t_k)}, after other calls")
        submission.scribble(got)
    kept, wanted = [], []
    for _ in range(2):
        lengths, mask, scores, (q, k, v) = rng.permutation(5)[:3], some_mask(rng, (2, 3, 4)), rng.standard_normal((2, 3, 4)), qkv(rng, 3, 4, dtype="float64")
        kept += [submission.padding_mask(lengths, 5, _keep=True), submission.masked_softmax(scores, mask, _keep=True), submission.causal_attention(q, k, v, _keep=True)]
        wanted += [(np.arange(5) < lengths[:, None])[:, None, None, :], softmax(scores, mask), attention(q, k, v)]
    for got, want in zip(kept, wanted, strict=True):
        expect(got, want, case="after other calls of the same shape")
        expect_same(submission.reread(got), got, because="A later call changed an earlier result: the two share memory")


# ---------------------------------------------------------------- stretch


@stretch(1)
@of("masked_softmax")
def test_softmax_refuses_what_is_no_mask(submission, rng):
    """masked_softmax refuses the masks that mask_scores refuses, by name."""
    for mask in (tensor(np.ones((2, 3)), "float32"), tensor(np.ones((2, 3)), "uint8"), np.ones((2, 4), bool), np.ones((4, 2, 3), bool)):
        refuses(lambda mask=mask: submission.masked_softmax(coarse(rng, (2, 3)), mask), ("mask", "scores"), case="a mask of numbers, or one that doesn't fit")


@stretch(1)
@of("causal_attention", "padding_mask")
def test_shapes_that_do_not_fit_refused(submission, rng):
    """q, k, v and lengths of shapes that can't be right are a ValueError that names one of them."""
    good = (2, 3, 4, 5)
    for shapes in [((3, 4, 5),) * 3, (good, (2, 3, 4, 6), (2, 3, 4, 6)), (good, good, (2, 3, 3, 5)), (good, (2, 2, 4, 5), (2, 2, 4, 5))]:
        refuses(lambda shapes=shapes: submission.causal_attention(*(rng.standard_normal(shape) for shape in shapes)), ("q", "k", "v"), case=f"shapes {shapes}")
    refuses(lambda: submission.padding_mask(np.array([[1, 2]]), 3), ("lengths",), case="lengths of shape (1, 2)")
