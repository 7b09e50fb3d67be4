"""Exercise 03, claim by claim: masks and masked softmax. Attention and manners are in check_causal_mask_attention.py.

Oracles are NumPy in float64. Hidden scores and rows that see nothing are where the mistakes are, so most claims look there.
"""

import itertools

import numpy as np
from attngrade.checks.causal_claims import NARROW, expect, gradients
from attngrade.checks.causal_oracles import coarse, hide, real_keys, sizes, softmax, softmax_pulled_back, some_mask, visible
from attngrade.checks.claims import Raised, Result, after, claim, device_arg, of, points, refuses, tensor

CACHE = [(1, 2), (2, 3), (1, 4), (3, 7)]
SHORT = [(2, 1), (3, 2), (7, 3)]
BROADCASTS = [((4,), (4,)), ((3, 4), (3, 1)), ((3, 4), (4,)), ((3, 4), (1,)), ((3, 3, 3), (3, 1, 3)), ((2, 3, 4, 5), (4, 5)),
              ((2, 3, 4, 5), (2, 1, 1, 5)), ((2, 3, 4, 5), (3, 1, 5)), ((2, 1, 3, 2, 4), (2, 4))]
MISFITS = [((3, 4), (3, 5)), ((3, 4), (2, 4)), ((3, 1), (3, 4)), ((3, 4), (2, 3, 4)), ((1, 2, 3), (2, 2, 3)), ((3, 4), (1, 3, 4))]
BAD_LENGTHS = [([4], 3), ([-1], 3), ([2, 6, 1], 5), ([5, 3, -2], 5), ([6, 1], 5), ([0, -1], 2), ([9, -3, 2], 4)]
HUGE = [("float32", 50), ("float32", 1e4), ("float64", 1e30), ("float32", 1e30), ("float64", 1e305), ("float32", 3e38), ("float16", 6e4)]
COUPLED = "The weights are right, the gradient isn't: a visible score raises its own weight and lowers all others (only the maximum may be detached)"


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
