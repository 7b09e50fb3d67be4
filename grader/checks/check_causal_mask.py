"""Exercise 03, claim by claim: masks, masked softmax, causal attention.

Oracles are NumPy in float64. Hidden scores, the future and rows that see nothing are where the mistakes are, so most claims look there.
"""

import itertools

import numpy as np
from attngrade.checks.causal_oracles import (
    attention,
    attention_pulled_back,
    coarse,
    hide,
    nearly_cancelling,
    offset,
    qkv,
    real_keys,
    sizes,
    softmax,
    softmax_pulled_back,
    some_mask,
    visible,
)
from attngrade.checks.claims import Raised, Result, after, claim, device_arg, expect_same, of, points, refuses, tensor
from attngrade.checks.claims import expect as expect_array

CACHE = [(1, 2), (2, 3), (1, 4), (3, 7)]
SHORT = [(2, 1), (3, 2), (7, 3)]
BROADCASTS = [((4,), (4,)), ((3, 4), (3, 1)), ((3, 4), (4,)), ((3, 4), (1,)), ((3, 3, 3), (3, 1, 3)), ((2, 3, 4, 5), (4, 5)),
              ((2, 3, 4, 5), (2, 1, 1, 5)), ((2, 3, 4, 5), (3, 1, 5)), ((2, 1, 3, 2, 4), (2, 4))]
MISFITS = [((3, 4), (3, 5)), ((3, 4), (2, 4)), ((3, 1), (3, 4)), ((3, 4), (2, 3, 4)), ((1, 2, 3), (2, 2, 3)), ((3, 4), (1, 3, 4))]
BAD_LENGTHS = [([4], 3), ([-1], 3), ([2, 6, 1], 5), ([5, 3, -2], 5), ([6, 1], 5), ([0, -1], 2), ([9, -3, 2], 4)]
HUGE = [("float32", 50), ("float32", 1e4), ("float64", 1e30), ("float32", 1e30), ("float64", 1e305), ("float32", 3e38), ("float16", 6e4)]
SIZES = [(1, 3, "float64"), (2, 1, "float64"), (2, 3, "float64"), (6, 5, "float64"), (3, 3, "float32"), (5, 9, "float32")]
LAYOUTS = [("(B, T, H, Dh)", {"order": (0, 2, 1, 3)}), ("(B, H, Dh, T)", {"order": (0, 1, 3, 2)}), ("padded rows", {"gap": 3, "guard": 2})]
NAMES = {"padding_mask": ["lengths"], "mask_scores": ["scores", "mask"], "masked_softmax": ["scores", "mask"], "causal_attention": "qkv"}
NARROW = [("float32", 1e-4), ("float16", 0.05), ("bfloat16", 0.1)]  # how far a gradient may be off: that it is there and no other is what counts
COUPLED = "The weights are right, the gradient isn't: a visible score raises its own weight and lowers all others (only the maximum may be detached)"
VALUES = ["attention-over-present-and-past", "attention-over-a-cache", "outputs-of-queries-that-see-nothing"]


def expect(got, want, **about):
    """A tensor with the values, shape and dtype of ``want``."""
    numpy = isinstance(got, Result) and got.kind == "ndarray"
    claim(not numpy, "A NumPy array came back where a tensor was asked", got=got, case=about.get("case", ""))
    expect_array(got, want, **about)


def gradients(submission, function, *args, wrt, up, want, case):
    """One gradient, or None, for each argument in ``wrt``; the result is right while gradients are recorded, too."""
    got, grads = submission.vjp(function, *args, wrt=wrt, cotangent=up)
    expect(got, want, case=f"the result while gradients are recorded, {case}")
    return (*grads, *[None] * len(wrt))[: len(wrt)]


# ---------------------------------------------------------------- causal_mask


@points(1)
@of("causal_mask")
def test_present_and_past(submission, rng):
    """Query i sees key j exactly when j <= i: boolean, True = may attend, as many keys as queries if t_k isn't given."""
    for t in (1, 2, 5, int(rng.integers(6, 30))):
        expect(submission.causal_mask(t), visible(t, t), dtype="bool", case=f"T={t}")
    long = int(rng.integers(257, 400))  # positions don't fit into every dtype
    expect(submission.causal_mask(long), visible(long, long), dtype="bool", case=f"T={long}")
    expect(submission.causal_mask(3, None), visible(3, 3), dtype="bool", case="t_k=None")
    expect(submission.causal_mask(t_q=4, t_k=4), visible(4, 4), dtype="bool", case="arguments by name")


@points(2)
@of("causal_mask")
def test_last_query_on_last_key(submission, rng):
    """With more keys than queries, as over a cache, the last query sits on the last key and the extra keys are the past."""
    few, many = np.sort(rng.choice(np.arange(4, 40), 2, replace=False)).tolist()
    for t_q, t_k in [*CACHE, (few, many), (2, int(rng.integers(2060, 2200))), (int(rng.integers(41, 90)), int(rng.integers(91, 200)))]:
        expect(submission.causal_mask(t_q, t_k), visible(t_q, t_k), dtype="bool", case=sizes(t_q, t_k))


@points(2)
@of("causal_mask")
def test_first_queries_see_nothing(submission, rng):
    """With more queries than keys the last query still sits on the last key, and the first queries see nothing at all."""
    few, many = np.sort(rng.choice(np.arange(4, 40), 2, replace=False)).tolist()
    for t_q, t_k in [*SHORT, (many, few), (int(rng.integers(2060, 2200)), 2), (int(rng.integers(91, 200)), int(rng.integers(41, 90)))]:
        expect(submission.causal_mask(t_q, t_k), visible(t_q, t_k), dtype="bool", case=sizes(t_q, t_k))


@points(1)
@of("causal_mask")
def test_mask_on_the_asked_device(submission, device):
    """The causal mask lies on the device that was asked for, given as a string or as a torch.device."""
    for asked in (device, device_arg(device)):
        got = submission.causal_mask(2, 3, device=asked)
        expect(got, visible(2, 3), dtype="bool", case=f"device={device}")
        claim(got.device == device, f"The mask lies on {got.device} where {device} was asked", got=got)
    try:
        got = submission.causal_mask(2, 3, device="cuda:77")  # no machine has it, so nothing can lie there
    except Raised:
        return
    claim(False, "The argument `device` has no effect: asked for one that isn't there, causal_mask answers all the same", got=got)


@points(1)
@of("causal_mask")
def test_negative_sizes_refused(submission):
    """A negative size is a ValueError that names it; a size of 0 gives an empty mask, or is refused as well."""
    refuses(lambda: submission.causal_mask(-1), ("t_q", "t_k"), case="t_q=-1")
    refuses(lambda: submission.causal_mask(3, -1), ("t_k",), case="t_q=3, t_k=-1")
    refuses(lambda: submission.causal_mask(-2, 3), ("t_q",), case="t_q=-2, t_k=3")
    refuses(lambda: submission.causal_mask(3, 0), or_empty=True, case="t_q=3, t_k=0")


# ---------------------------------------------------------------- padding_mask


@points(1)
@of("padding_mask")
def test_padding_hides_the_tail(submission, rng):
    """Key j of row b is visible exactly when j < lengths[b]: boolean, shape (B, 1, 1, t_k), lengths of 0 and t_k included."""
    drawn, many = rng.integers(0, 12, 6).tolist(), rng.integers(0, 6, int(rng.integers(41, 90))).tolist()
    long = int(rng.integers(33_000, 40_000))  # neither positions nor lengths fit into every dtype
    for lengths, t_k in [([2], 3), ([1, 3], 3), ([3, 0, 5, 1], 5), ([4, 2], 7), ([1], 1), (drawn, 13), (many, 5), ([long - 1, 129, 2049], long)]:
        got = submission.padding_mask(np.array(lengths), t_k)
        expect(got, real_keys(lengths, t_k), dtype="bool", case=f"lengths={lengths}, t_k={t_k}")
    expect(submission.padding_mask(lengths=np.array([1, 2]), t_k=4), real_keys([1, 2], 4), dtype="bool", case="arguments by name")


@points(1)
@of("padding_mask")
def test_lengths_outside_refused(submission):
    """A length below 0 or above t_k is a ValueError that names it, wherever it stands among the lengths."""
    for lengths, t_k in BAD_LENGTHS:
        given = np.array(lengths)
        refuses(lambda given=given, t_k=t_k: submission.padding_mask(given, t_k), ("lengths", "t_k"), case=f"lengths={lengths}, t_k={t_k}")


# ---------------------------------------------------------------- mask_scores


@points(1)
@of("mask_scores")
def test_hidden_scores_are_minus_infinity(submission, rng):
    """Hidden scores become -inf and visible ones stay the very same numbers, in every float dtype."""
    for dtype in ("float32", "float64", "float16", "bfloat16"):
        scores, mask = coarse(rng, (3, 4)), some_mask(rng, (3, 4))
        expect(submission.mask_scores(tensor(scores, dtype), mask), hide(scores, mask), dtype=dtype, tol=0.0, case=dtype)
    scores, nothing = 1e9 * rng.standard_normal((2, 3)), np.zeros((2, 3), bool)
    expect(submission.mask_scores(scores=scores, mask=nothing), hide(scores, nothing), dtype="float64", case="everything is hidden")


@points(1)
@of("mask_scores")
def test_masks_broadcast(submission, rng):
    """Any boolean mask that broadcasts to the shape of the scores will do, for scores with any number of axes."""
    for (shape, mask_shape), dtype in zip(BROADCASTS, itertools.cycle(("float64", "float16", "float32", "bfloat16")), strict=False):
        scores, mask = coarse(rng, shape), some_mask(rng, mask_shape)
        case = f"scores {shape}, mask {mask_shape}, {dtype}"
        expect(submission.mask_scores(tensor(scores, dtype), mask), hide(scores, mask), dtype=dtype, tol=0.0, case=case)
    for mask in (np.array(True), np.array(False)):
        scores, case = rng.standard_normal((2, 3)), f"scores (2, 3), a mask without axes: {bool(mask)}"
        expect(submission.mask_scores(scores, mask), hide(scores, mask), dtype="float64", tol=0.0, case=case)


@points(1)
@of("mask_scores", "masked_softmax")
def test_masks_of_numbers_refused(submission, rng):
    """A mask of numbers is a ValueError that names it: 0 and 1, or 0 and -inf, mean different things to different people."""
    for function, dtype in itertools.product(("mask_scores", "masked_softmax"), ("float32", "int64", "uint8", "float64")):
        scores, mask, ask = rng.standard_normal((2, 3)), tensor(some_mask(rng, (2, 3)), dtype), getattr(submission, function)
        refuses(lambda ask=ask, scores=scores, mask=mask: ask(scores, mask), ("mask",), case=f"{function}, a mask of {dtype}")


@points(1)
@of("mask_scores", "masked_softmax")
def test_masks_that_do_not_fit_refused(submission, rng):
    """A mask that doesn't broadcast to the shape of the scores, or would enlarge them, is a ValueError that names it."""
    for function, (shape, mask_shape) in itertools.product(("mask_scores", "masked_softmax"), MISFITS):
        scores, mask, ask = rng.standard_normal(shape), np.ones(mask_shape, bool), getattr(submission, function)
        case = f"{function}, scores {shape}, mask {mask_shape}"
        refuses(lambda ask=ask, scores=scores, mask=mask: ask(scores, mask), ("mask", "scores"), case=case)


@points(1)
@of("mask_scores")
@after("hidden-scores-are-minus-infinity", "masks-broadcast")
def test_visible_scores_pass_the_gradient(submission, rng):
    """The gradient passes the visible scores unchanged."""
    scores, mask, up = rng.standard_normal((2, 3, 4)), some_mask(rng, (3, 4)), rng.standard_normal((2, 3, 4))
    told = {"want": hide(scores, mask), "case": "scores (2, 3, 4), mask (3, 4)"}
    (grad,) = gradients(submission, "mask_scores", scores, mask, wrt=(0,), up=np.where(mask, up, 0.0), **told)
    arrived = isinstance(grad, Result) and grad.shape == scores.shape and np.array_equal(grad.array[..., mask], up[..., mask])
    claim(arrived, "The gradient at the visible scores isn't the one that came in", got=grad, want=np.where(mask, up, 0.0))


# ---------------------------------------------------------------- masked_softmax


@points(1)
@of("masked_softmax")
def test_weights_are_shared_among_the_visible(submission, rng):
    """Weights follow exp(score) along the last axis: hidden keys get exactly 0, and the visible ones share 1."""
    dtypes = itertools.cycle(("float64", "float32"))
    for (shape, mask_shape), dtype in zip([((2, 3), (2, 3)), ((3, 3), (3, 3)), *BROADCASTS], dtypes, strict=False):
        mask = some_mask(rng, mask_shape) if mask_shape[-1] > 1 else np.ones(mask_shape, bool)
        scores, case = (2 * rng.standard_normal(shape)).astype(dtype), f"scores {shape}, mask {mask_shape}, {dtype}"
        got, want = submission.masked_softmax(scores, mask), softmax(scores, mask)
        if isinstance(got, Result) and got.shape == want.shape and np.isfinite(got.array).all():
            shown = {"got": got, "want": want, "case": case}
            claim(np.all(got.array[want == 0] == 0), "The weight of a hidden key isn't exactly 0", **shown)
            claim(np.allclose(got.array.sum(-1), 1, rtol=0, atol=1e-4), "The weights of a row don't sum to 1", **shown)
        expect(got, want, dtype=dtype, case=case)
    for dtype in ("float64", "float32"):
        for axes in ((), (3,), (2, 3)):
            n = int(rng.integers(100, 300))
            scores, mask = (2 * rng.standard_normal((*axes, n))).astype(dtype), some_mask(rng, (*axes[-1:], n))
            expect(submission.masked_softmax(scores, mask), softmax(scores, mask), dtype=dtype, case=f"scores {scores.shape}, mask {mask.shape}, {dtype}")


@points(1)
@of("masked_softmax")
def test_hidden_scores_never_matter(submission, rng):
    """The weights are those of the visible keys, however large the hidden scores are."""
    for dtype, huge in HUGE:
        for sign in (1, -1):
            mask = some_mask(rng, (2, 3, 4))
            scores = np.where(mask, coarse(rng, (2, 3, 4)), sign * huge).astype(dtype)
            got = submission.masked_softmax(scores, mask)
            expect(got, softmax(scores, mask), dtype=dtype, case=f"hidden scores of {sign * huge:g}, {dtype}")


@points(1)
@of("masked_softmax")
def test_visible_scores_of_any_size(submission, rng):
    """Visible scores may be of any size, row by row: nothing overflows, and no row drowns because of another."""
    for dtype, size in [("float32", 150.0), ("float64", 800.0)]:
        scores, mask = np.array([[size], [0.0], [-size], [size / 2]]) + coarse(rng, (4, 5)), some_mask(rng, (4, 5))
        got = submission.masked_softmax(scores.astype(dtype), mask)
        expect(got, softmax(scores, mask), dtype=dtype, case=f"rows of scores near {size:g}, 0 and -{size:g}, {dtype}")
    for low in (-1e10, -1e30):
        scores, mask = np.array([[0.5, low, 1.0]]), np.array([[False, True, False]])
        case = f"one visible key, its score is {low:g}"
        expect(submission.masked_softmax(scores, mask), mask.astype(float), dtype="float64", case=case)
    lowest = np.array([[0.5, -65504.0, 1.0]], dtype=np.float16)
    case = "one visible key, its score is float16's lowest number"
    expect(submission.masked_softmax(lowest, mask), mask.astype(float), dtype="float16", case=case)


@points(2)
@of("masked_softmax")
def test_empty_rows_are_zero(submission, rng):
    """A row that sees nothing is all zeros, no NaN, and leaves the other rows as they are."""
    for shape in [(3, 4), (2, 3, 5), (2, 2, 2, 3)]:
        scores, mask = rng.standard_normal(shape), some_mask(rng, shape)
        mask[..., 0, :] = False
        case = f"scores {shape}, the first row sees nothing"
        expect(submission.masked_softmax(scores, mask), softmax(scores, mask), dtype="float64", case=case)
    masks = [("float32", np.zeros((3, 1), bool)), ("float32", np.array([[True], [False], [True]])), ("float16", np.zeros((3, 4), bool))]
    for dtype, mask in [*masks, ("float64", np.zeros(4, bool))]:
        scores = coarse(rng, (3, 4)).astype(dtype)
        case = f"scores (3, 4), mask {mask.tolist()}, {dtype}"
        expect(submission.masked_softmax(scores, mask), softmax(scores, mask), dtype=dtype, case=case)


@points(1)
@of("masked_softmax")
@after("weights-are-shared-among-the-visible", "hidden-scores-never-matter")
def test_softmax_gradient(submission, rng):
    """The gradient is the softmax's own among the visible keys and zero at hidden ones, however large those are."""
    for shape, huge in [((2, 3), 1.0), ((3, 2, 4), 1.0), ((2, 5), 1e4), ((3, 4), 1e300), ((3, 17, int(rng.integers(65, 140))), 1.0)]:
        mask, up = some_mask(rng, shape), rng.standard_normal(shape)
        scores = np.where(mask, rng.standard_normal(shape), huge)
        case = f"scores {shape}, hidden ones {huge:g}"
        (grad,) = gradients(submission, "masked_softmax", scores, mask, wrt=(0,), up=up, want=softmax(scores, mask), case=case)
        expect(grad, softmax_pulled_back(softmax(scores, mask), up), dtype="float64", atol=1e-12, case=f"gradient, {case}",
               because=COUPLED)  # rows of one visible key have a gradient of 0
    for dtype, tol in NARROW:
        scores, mask, up = coarse(rng, (3, 5)), some_mask(rng, (3, 5)), coarse(rng, (3, 5))
        told = {"want": softmax(scores, mask), "case": dtype}
        (grad,) = gradients(submission, "masked_softmax", tensor(scores, dtype), mask, wrt=(0,), up=tensor(up, dtype), **told)
        expect(grad, softmax_pulled_back(softmax(scores, mask), up), dtype=dtype, tol=tol, atol=tol / 100, case=f"gradient, {dtype}")


@points(2)
@of("masked_softmax")
@after("weights-are-shared-among-the-visible", "empty-rows-are-zero")
def test_empty_rows_have_zero_gradient(submission, rng):
    """A row that sees nothing has a gradient of zero, not NaN, and the other rows keep theirs."""
    for shape in [(2, 3), (2, 3, 4), (1, 5)]:
        scores, mask, up = rng.standard_normal(shape), some_mask(rng, shape), rng.standard_normal(shape)
        mask[..., -1, :] = False
        case = f"scores {shape}, the last row sees nothing"
        (grad,) = gradients(submission, "masked_softmax", scores, mask, wrt=(0,), up=up, want=softmax(scores, mask), case=case)
        want = softmax_pulled_back(softmax(scores, mask), up)
        expect(grad, want, dtype="float64", atol=1e-12, case=f"gradient, {case}")


@points(1)
@of("masked_softmax")
@after("weights-are-shared-among-the-visible", "empty-rows-are-zero")
def test_softmax_of_half_precision(submission, rng):
    """With float16 and bfloat16 scores the sums run in float32, and the weights come back in the scores' dtype."""
    for dtype in ("float16", "bfloat16"):
        scores, mask = coarse(rng, (3, 7), top=60), some_mask(rng, (3, 7))
        expect(submission.masked_softmax(tensor(scores, dtype), mask), softmax(scores, mask), dtype=dtype, case=dtype)
    for dtype, n in [("bfloat16", 3001), ("float16", 70001)]:
        got = submission.masked_softmax(tensor(np.zeros((1, n)), dtype), np.ones((1, n), bool))
        expect(got, np.full((1, n), 1 / n), dtype=dtype, case=f"{n} equal scores in {dtype}")


@points(1)
@of("masked_softmax", "mask_scores")
@after("weights-are-shared-among-the-visible", "hidden-scores-are-minus-infinity", "masks-broadcast")
def test_layout_of_scores_and_masks(submission, rng):
    """Scores and masks that lie transposed in memory give what their contiguous copies give."""
    scores, mask = rng.standard_normal((2, 3, 4)), some_mask(rng, (3, 4))
    turned = {"scores": tensor(scores, order=(2, 1, 0)), "mask": tensor(mask, order=(1, 0))}
    expect(submission.mask_scores(**turned), hide(scores, mask), dtype="float64", tol=0.0, case="transposed views")
    expect(submission.masked_softmax(**turned), softmax(scores, mask), dtype="float64", case="transposed views")


# ---------------------------------------------------------------- causal_attention


@points(1)
@of("causal_attention")
def test_attention_over_present_and_past(submission, rng):
    """Each output is the average of the values up to its own place, with weights from q.k / sqrt(Dh)."""
    for t, width, dtype in [*SIZES, (int(rng.integers(7, 20)), int(rng.integers(6, 12)), "float64")]:
        q, k, v = qkv(rng, t, t, width=width, dtype=dtype)
        expect(submission.causal_attention(q, k, v), attention(q, k, v), dtype=dtype, case=f"T={t}, Dh={width}, {dtype}", proves=t > 1)
    long = int(rng.integers(257, 300))
    q, k, v = qkv(rng, long, long, batch=1, heads=1, width=4, dtype="float32")
    expect(submission.causal_attention(q, k, v), attention(q, k, v), dtype="float32", case=f"T={long}, B=1, H=1")
    q, k, v = qkv(rng, 4, 4, batch=1, heads=1)
    expect(submission.causal_attention(q=q, k=k, v=v), attention(q, k, v), dtype="float64", case="B=1, H=1, arguments by name")


@points(2)
@of("causal_attention")
@after("attention-over-present-and-past")
def test_attention_over_a_cache(submission, rng):
    """With more keys than queries the last query sits on the last key."""
    for t_q, t_k in [*CACHE, (4, int(rng.integers(8, 20))), (3, int(rng.integers(300, 600)))]:
        for dtype in ("float64", "float32"):
            q, k, v = qkv(rng, t_q, t_k, dtype=dtype)
            expect(submission.causal_attention(q, k, v), attention(q, k, v), dtype=dtype, case=f"{sizes(t_q, t_k)}, {dtype}", proves=t_k > 1)
    (batch, heads, t_q, t_k, width), dtype = larger(rng), "float32"
    q, k, v = qkv(rng, t_q, t_k, batch, heads, width, dtype)
    expect(submission.causal_attention(q, k, v), attention(q, k, v), dtype=dtype, case=f"B={batch}, H={heads}, {sizes(t_q, t_k)}, Dh={width}, {dtype}")


def larger(rng):
    """B, H, T_q, T_k and Dh as a model has them rather than an example."""
    return tuple(int(n) for n in rng.integers((4, 5, 33, 70, 33), (7, 10, 70, 120, 81)))


@points(1)
@of("causal_attention")
@after("attention-over-present-and-past")
def test_outputs_of_queries_that_see_nothing(submission, rng):
    """With more queries than keys the first outputs are zero, and the last query sits on the last key."""
    for t_q, t_k in [*SHORT, (int(rng.integers(8, 20)), 5), (int(rng.integers(300, 600)), 3)]:
        for dtype in ("float64", "float32", "float16"):
            q, k, v = qkv(rng, t_q, t_k, dtype=dtype)
            expect(submission.causal_attention(q, k, v), attention(q, k, v), dtype=dtype, case=f"{sizes(t_q, t_k)}, {dtype}", proves=t_k > 1)


@points(2)
@of("causal_attention")
def test_future_leaves_every_bit(submission, rng):
    """Changing the queries, keys and values of the future, however much, leaves an output bit for bit as it was."""
    for (t_q, t_k), dtype in [((4, 4), "float32"), ((3, 5), "float32"), ((5, 3), "float64"), ((3, 3), "float16")]:
        q, k, v = qkv(rng, t_q, t_k, dtype=dtype)
        before = present(submission.causal_attention(q, k, v), t_q, q)
        for i, size in itertools.product(range(t_q), (1.0, 1e4)):
            later = [moved(rng, x, i + 1 + place, size) for x, place in zip((q, k, v), (0, offset(t_q, t_k), offset(t_q, t_k)), strict=True)]
            got, case = submission.causal_attention(*later), f"{sizes(t_q, t_k)}, {dtype}, everything after query {i} moved by {size:g}"
            expect_same(present(got, i + 1, q), before.array[:, :, : i + 1], because="An output moved although only the future of its query was changed", case=case)
            told = "The last output stayed as it was although its own query, key and value were changed"
            claim(i + 1 == t_q or (got.array[:, :, -1] != before.array[:, :, -1]).any(), told, got=got, case=case)
    q, k, v = qkv(rng, 3, 4, dtype="float32")
    before = present(submission.causal_attention(q, k, v), 2, q)
    after_all = submission.causal_attention(q, moved(rng, k, 3, 1e30), moved(rng, v, 3, 1e30))
    expect_same(present(after_all, 2, q), before.array, because="An output moved although only the future of its query was changed",
                case=f"{sizes(3, 4)}, float32, the last key and value moved by 1e30")


def moved(rng, x, first, size):
    """A copy of x whose tokens from ``first`` on are moved, up or down."""
    x, first = x.copy(), max(0, first)
    x[:, :, first:] = (x[:, :, first:] + size * rng.choice([-1, 1], x[:, :, first:].shape)).astype(x.dtype)
    return x


def present(got, n, q):
    """The first n outputs, with the call that they come from."""
    claim(isinstance(got, Result) and got.shape == q.shape, f"A tensor of shape {q.shape} was asked", got=got)
    return Result(got.array[:, :, :n], got.dtype, got.kind, got.facts, got.call)


@points(2)
@of("causal_attention")
@after(*VALUES)
def test_attention_gradients(submission, rng):
    """Gradients reach queries, keys and values, and are right where a query sees nothing, too: zero, not NaN."""
    batch, heads, *long, width = larger(rng)
    for t_q, t_k, *sides in [(3, 3), (2, 4), (4, 2), (*long, batch, heads, width)]:
        q, k, v = qkv(rng, t_q, t_k, *sides)
        up = rng.standard_normal(q.shape)
        told = {"want": attention(q, k, v), "case": sizes(t_q, t_k)}
        grads = gradients(submission, "causal_attention", q, k, v, wrt=(0, 1, 2), up=up, **told)
        for name, grad, want in zip("qkv", grads, attention_pulled_back(q, k, v, up), strict=True):
            expect(grad, want, dtype="float64", case=f"gradient of {name}, {sizes(t_q, t_k)}")
    for dtype, tol in NARROW:
        q, k, v, up = (coarse(rng, (1, 2, t, 6)) for t in (4, 3, 3, 4))
        told = {"want": attention(q, k, v), "case": f"{sizes(4, 3)}, {dtype}"}
        grads = gradients(submission, "causal_attention", *(tensor(x, dtype) for x in (q, k, v)), wrt=(0, 1, 2), up=tensor(up, dtype), **told)
        for name, grad, want in zip("qkv", grads, attention_pulled_back(q, k, v, up), strict=True):
            expect(grad, want, dtype=dtype, tol=tol, case=f"gradient of {name}, {sizes(4, 3)}, {dtype}")


@points(1)
@of("causal_attention")
@after(*VALUES[:2])
def test_half_precision_is_for_the_door(submission, rng):
    """With float16 and bfloat16, scores, weights and sums live in float32 and the result is cast back once."""
    plain, cancelling = [coarse(rng, (2, 2, t, 6)) for t in (3, 5, 5)], nearly_cancelling(rng)
    lifted = [np.concatenate([np.full((*x.shape[:-1], 1), 60.0), x[..., 1:]], -1) for x in plain[:2]]
    two_levels = np.ones((1, 2, 6, 4)) * np.where(np.arange(6)[:, None] % 2, 136.0, 128.0)
    large = np.full((1, 2, 1, 4), 136.0), two_levels, coarse(rng, (1, 2, 6, 4))
    cases = [("ordinary values", plain), ("scores near 1470 that differ by little", [*lifted, plain[2]]),
             ("q.k = 73984 before the scale", large), ("values of about 60 that nearly cancel", cancelling)]
    for (case, (q, k, v)), dtype in itertools.product(cases, ("float16", "bfloat16")):
        got = submission.causal_attention(*(tensor(x, dtype) for x in (q, k, v)))
        expect(got, attention(q, k, v), dtype=dtype, case=f"{dtype}, {case}")
    for dtype in ("float16", "bfloat16"):
        batch, heads, t_q, t_k, width = larger(rng)
        q, k, v = (coarse(rng, (batch, heads, t, width)) for t in (t_q, t_k, t_k))
        got = submission.causal_attention(*(tensor(x, dtype) for x in (q, k, v)))
        expect(got, attention(q, k, v), dtype=dtype, case=f"B={batch}, H={heads}, {sizes(t_q, t_k)}, Dh={width}, {dtype}")
    q, k, v = far_below(rng)
    got, case = submission.causal_attention(*(tensor(x, "float16") for x in (q, k, v))), "float16, every score near -131072, below its lowest number"
    expect(got, attention(q, k, v), dtype="float16", tol=0.05, case=case)  # a logarithm of that size has few digits in float32


@points(1)
@of("causal_attention")
@after(*VALUES[:2])
def test_layout_of_queries_keys_and_values(submission, rng):
    """Queries, keys and values that lie transposed or strided in memory give what their contiguous copies give."""
    q, k, v = qkv(rng, 3, 4)
    for case, layout in LAYOUTS:
        got = submission.causal_attention(*(tensor(x, **layout) for x in (q, k, v)))
        expect(got, attention(q, k, v), dtype="float64", case=f"q, k and v lie in memory as {case}")


def far_below(rng):
    """Queries, keys and values with scores so low that no finite number of float16 hides anything beside them; every step to them is exact in float32."""
    q, k, v = (rng.integers(-3, 4, (1, 2, t, 16)) / 2 for t in (4, 5, 5))
    q[..., 0], k[..., 0] = 1024, -512
    return q, k, v


# ---------------------------------------------------------------- manners


@points(1)
@of("padding_mask", "mask_scores", "masked_softmax", "causal_attention")
def test_arguments_stay_as_they_were(submission, rng):
    """No function writes into its arguments or into global state."""
    scores, mask = rng.standard_normal((2, 3, 4)), some_mask(rng, (3, 4))
    mask[0] = False
    single, few = scores.astype("float32"), qkv(rng, 4, 3, dtype="float32")
    calls = [("padding_mask", (np.array([3, 0, 5]), 5)), ("mask_scores", (scores, mask)), ("masked_softmax", (scores, mask)),
             ("masked_softmax", (single, mask)), ("causal_attention", qkv(rng, 3, 4)), ("causal_attention", few)]
    for function, args in calls:
        got, names = getattr(submission, function)(*args), NAMES[function]
        changed = [f"`{name}`" for place, name in enumerate(names) if str(place) in submission.mutated()]
        claim(not changed, f"The function {function} writes into its argument {' and '.join(changed)}: the caller's tensor isn't what it was", got=got)
        claim(not submission.touched(), f"The function {function} changes global state: {', '.join(submission.touched())}", got=got)
    for function in ("mask_scores", "masked_softmax"):
        got = getattr(submission, function)(scores, np.ones((3, 4), bool), _keep=True)
        told = f"The function {function} hands its caller's own scores back where nothing is hidden: a new tensor was asked"
        claim(not submission.scribble(got), told, got=got)


@points(1)
@of("causal_mask", "padding_mask", "masked_softmax", "causal_attention")
@after("last-query-on-last-key", "first-queries-see-nothing", "padding-hides-the-tail", "weights-are-shared-among-the-visible", *VALUES)
def test_calls_know_nothing_of_each_other(submission, rng):
    """A result depends on its own arguments alone, whatever was called before and whatever became of earlier results."""
    for t_q, t_k in [(3, 5), (3, 4), (2, 5), (5, 3), (3, 5), (4, 3)]:
        got = submission.causal_mask(t_q, t_k, _keep=True)
        expect(got, visible(t_q, t_k), dtype="bool", case=f"{sizes(t_q, t_k)}, after other calls whose results were overwritten")
        submission.scribble(got)
    pairs = []
    for lengths, dtype in [([0, 3, 2], "float64"), ([4, 1, 5], "float64"), ([2, 2, 0], "float32")]:
        scores, mask, inputs = rng.standard_normal((2, 3, 4)).astype(dtype), some_mask(rng, (2, 3, 4)), qkv(rng, 3, 4, dtype=dtype)
        pairs += [(submission.padding_mask(np.array(lengths), 5, _keep=True), real_keys(lengths, 5)),
                  (submission.masked_softmax(scores, mask, _keep=True), softmax(scores, mask)),
                  (submission.causal_attention(*inputs, _keep=True), attention(*inputs))]
    for function, first, args, want in same_objects(rng):
        told = f"{function} remembers tensors and not what is in them: asked again after its caller had changed them in place"
        expect(getattr(submission, function)(*args, _before=first), want, case="the same tensors with new values", because=told)
    for got, want in pairs:
        expect(got, want, case="after other calls of the same shape")
        expect_same(submission.reread(got), got, because="A later call changed an earlier result: the two share memory")


def same_objects(rng):
    """For each function other arguments of the same shapes, the arguments, and what is right for them."""
    lengths, later = np.array([1, 4, 0]), np.array([5, 2, 3])
    (scores, more), (mask, other) = rng.standard_normal((2, 2, 3, 4)), (some_mask(rng, (3, 4)) for _ in range(2))
    inputs, others = qkv(rng, 3, 4), qkv(rng, 3, 4)
    yield "padding_mask", (lengths,), (later, 5), real_keys(later, 5)
    yield "mask_scores", (scores, mask), (more, other), hide(more, other)
    yield "masked_softmax", (scores, mask), (more, other), softmax(more, other)
    yield "causal_attention", inputs, others, attention(*others)
