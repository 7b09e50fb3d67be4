"""Exercise 03, claim by claim: causal attention, and that no call knows of another."""

import itertools

import numpy as np
from attngrade.checks.causal_claims import NARROW, expect, gradients
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
    some_mask,
    visible,
)
from attngrade.checks.claims import Result, after, claim, expect_same, of, points, tensor

CACHE = [(1, 2), (2, 3), (1, 4), (3, 7)]
SHORT = [(2, 1), (3, 2), (7, 3)]
SIZES = [(1, 3, "float64"), (2, 1, "float64"), (2, 3, "float64"), (6, 5, "float64"), (3, 3, "float32"), (5, 9, "float32")]
LAYOUTS = [("(B, T, H, Dh)", {"order": (0, 2, 1, 3)}), ("(B, H, Dh, T)", {"order": (0, 1, 3, 2)}), ("padded rows", {"gap": 3, "guard": 2})]
NAMES = {"padding_mask": ["lengths"], "mask_scores": ["scores", "mask"], "masked_softmax": ["scores", "mask"], "causal_attention": "qkv"}
VALUES = ["attention-over-present-and-past", "attention-over-a-cache", "outputs-of-queries-that-see-nothing"]


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
