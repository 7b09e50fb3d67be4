"""Exercise 05, claim by claim: what holds of all of it, layouts, side effects and memory of earlier calls."""

import numpy as np
from attngrade.checks.claims import after, all_but_one, claim, expect_same, of, points, tensor
from attngrade.checks.qk_norm_oracles import (
    drawn_gains,
    drawn_pair,
    load,
    norm,
    norms,
    same,
    same_pair,
    scaled_dots,
)


@points(1)
@of("rms_norm", "QKNorm", "qk_norm_logits")
@after("rms-norm-follows-the-formula", "each-side-has-its-own-gain", "logits-are-scaled-dot-products-of-normed-vectors")
def test_values_count_and_not_their_place_in_memory(submission, rng):
    """Transposed and strided inputs give what a contiguous copy gives."""
    (q, k), pair = drawn_pair(rng, 2, 3, 4, 6, 5), drawn_gains(rng, 5)
    module = load(submission.QKNorm(5), pair)
    for layout in [{"order": (0, 2, 1, 3)}, {"gap": 3, "guard": 4}, {"order": (0, 1, 3, 2)}, {"order": (3, 1, 0, 2)}]:
        (q_view, k_view), case = (tensor(x, **layout) for x in (q, k)), ", ".join(f"{name}={value}" for name, value in layout.items())
        same(submission.rms_norm(q_view, pair[0]), norm(q, pair[0]), case=f"rms_norm, memory {case}")
        same_pair(module(q_view, k_view), norms(q, k, pair), case=f"QKNorm, memory {case}")
        same(submission.qk_norm_logits(q_view, k_view, *pair), scaled_dots(q, k, pair), case=f"qk_norm_logits, memory {case}")


@points(2)
@of("rms_norm", "QKNorm", "qk_norm_logits", "logit_bound", "saturation")
def test_nothing_outside_the_result_changes(submission, rng):
    """Arguments, random generators and global settings stay as they were."""
    (q, k), pair = drawn_pair(rng, 2, 3, 4, 6, 5), drawn_gains(rng, 5)
    singles = [part.astype(np.float32) for part in (q, k, *pair)]
    submission.rms_norm(q, pair[0])
    submission.rms_norm(singles[0], singles[2])
    submission.rms_norm(q.astype(np.float16), singles[2])
    submission.QKNorm(5)(q, k)
    submission.qk_norm_logits(q, k, *pair)
    submission.qk_norm_logits(*singles)
    submission.logit_bound(*pair)
    submission.saturation(k)
    submission.saturation(singles[1])
    for call in submission.calls:  # those of the other checks as well
        changed, touched = ", ".join(call.mutated), ", ".join(call.touched)
        claim(not changed, f"Your {call.function} changed its argument {changed} in place: work on a copy", got=f"changed: {changed}")
        claim(not touched, f"Your {call.function} changed global state ({touched}): leave it as it was", got=f"changed: {touched}")


@points(1)
@of("rms_norm", "QKNorm", "qk_norm_logits")
@after("rms-norm-follows-the-formula", "each-side-has-its-own-gain", "logits-are-scaled-dot-products-of-normed-vectors")
def test_earlier_calls_leave_no_trace(submission, rng):
    """A result stays what it is after later calls, and a call forgets the earlier ones."""
    first, second, pair, module = drawn_pair(rng, 1, 3, 2, 2, 7), drawn_pair(rng, 1, 3, 2, 2, 7), drawn_gains(rng, 7), submission.QKNorm(7)
    for name, call in {
        "rms_norm": lambda q, k, **options: submission.rms_norm(q, pair[0], **options),
        "QKNorm": lambda q, k, **options: module(q, k, **options),
        "qk_norm_logits": lambda q, k, **options: submission.qk_norm_logits(q, k, *pair, **options),
    }.items():
        kept = call(*first, _keep=True)
        because = "A later call wrote into the result of an earlier one: each result needs memory of its own."
        for more in (1, 8):  # buffers may be used by turns
            for _ in range(more):
                call(*second)
            for now, then in zip(each(submission.reread(kept)), each(kept), strict=True):
                expect_same(now, then, case=f"{name}: the first result after {'a second call' if more == 1 else 'nine more calls'}", because=because)
        submission.scribble(kept)
        because = "It is tensors that are remembered, and not what is in them: their caller had changed them in place."
        before = (*(2 * x for x in second), *pair) if name == "qk_norm_logits" else (2 * second[0], pair[0]) if name == "rms_norm" else tuple(2 * x for x in second)
        for now, then in zip(each(call(*first, _before=before)), each(kept), strict=True):
            same(now, then.array, case=f"{name}: the same tensors with new values", because=because)
        because = "The same call gave another result: something is kept from earlier calls, or handed out twice."
        for now, then in zip(each(call(*first)), each(kept), strict=True):
            same(now, then.array, case=f"{name}: the first call once more, its result overwritten by the caller", because=because)
        told = "The result of an earlier call came back, although one number in each tensor is another: look at all of a tensor"
        for now, then in zip(each(call(*(all_but_one(x, rng) for x in first))), each(kept), strict=True):
            claim((now.array != then.array).any(), told, got=now, case=f"{name}: the first call with another number inside each tensor")


def each(result):
    return result if isinstance(result, tuple) else (result,)
