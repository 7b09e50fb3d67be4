"""Exercise 04, claim by claim: what attention refuses; and last, over all calls of this exercise, what no call may change."""

import numpy as np
from attngrade.checks.claims import after, claim, of, points, refuses
from attngrade.checks.multi_head_oracles import (
    AT_LEAST_ONE,
    PARAMETERS,
    WEIGHTS,
    drawn,
)

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
