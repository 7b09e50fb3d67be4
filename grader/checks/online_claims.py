"""What the claims of exercise 06 have in common: results and their parts, inputs as tensors, calls that follow each other, sizes that don't fit."""

import numpy as np
from attngrade.checks.claims import Result, claim, expect, refuses, tensor
from attngrade.checks.online_oracles import TOLERANCE, attention, qkv

MERGE, BLOCKWISE, FLASH = "merge_states", "blockwise_attention", "flash_attention"
MIB = 1 << 20
FLASH_DTYPES = ("float32", "float16")


def is_state(got, want, dtype, case="", because=None):
    """``got`` is a tuple (m, l, o) with these values."""
    if claim_tuple(got, 3, "(m, l, o)", MERGE, case):
        for name, part, right in zip("mlo", got, want, strict=True):
            expect(part, right, dtype=dtype, case=f"{name}, {case}", because=because)


def is_answer(got, want, dtype, function, case="", because=None):
    """``got`` is a tuple (out, lse) with these values; lse is compared relative to max(1, max|lse|)."""
    if claim_tuple(got, 2, "(out, lse)", function, case):
        because = because or sees_nothing(got, want)
        expect(got[0], want[0], dtype=dtype, case=f"out, {case}", because=because)
        is_lse(got[1], want[1], dtype, case, because)


def sees_nothing(got, want):
    """The sentence for a result that is wrong in rows without keys alone; None for any other."""
    blind = np.isneginf(want[1])
    if not blind.any() or not all(usable(part, right) and part.array.dtype.kind == "f" for part, right in zip(got, want, strict=True)):
        return None
    reach = 0.01 * np.abs(want[0]).max(initial=1.0)
    right = np.isclose(got[0].array, want[0], rtol=0, atol=reach).all(-1) & np.isclose(got[1].array, want[1], rtol=0, atol=0.01)
    if right.all() or not right[~blind].all():
        return None
    return "Only queries that see no key are wrong: a sum over no keys is 0, so out is 0 there and lse = log 0 = -inf. Look for 0 / 0, for -inf - (-inf) and for finite stand-ins of -inf."


def only_gradients(got, want):
    """The sentence for gradients of a result that is right itself; None beside any other."""
    pairs = zip(got, want, strict=True) if isinstance(got, tuple) and len(got) == len(want) else [(None, None)]
    right = all(usable(part, value) and np.allclose(part.array, value, rtol=1e-4, atol=1e-4) for part, value in pairs)
    return "The result is right and its gradient isn't: look for detach, no_grad, .data or a write in place, and for a maximum that is detached in one of its places alone." if right else None


def is_lse(got, want, dtype, case, because=None):
    reach = max(1.0, np.max(np.abs(want), where=np.isfinite(want), initial=0.0))
    expect(got, want, dtype="float32", tol=max(TOLERANCE[dtype], TOLERANCE["float32"]), scale=reach, case=f"lse, {case}", because=because)


def claim_tuple(got, n, parts, function, case):
    """Whether ``got`` is a tuple of ``n`` arrays; claims it."""
    fits = isinstance(got, tuple) and len(got) == n
    kind = type(got).__name__ if not isinstance(got, tuple) else f"tuple of {len(got)}"
    claim(fits, f"{function}: came back as a {kind} where the tuple {parts} was asked", got=got, case=case)
    call = getattr(got[0], "call", None) if fits else None
    if call is not None:  # whatever is changed once stays changed, so every call is looked at
        claim(not call.touched, f"{function}: the call changed {', '.join(call.touched)}, which belongs to the whole process", got=got, case=case)
    return fits


def held(arrays, dtype, **layout):
    return tuple(tensor(x, dtype, **layout) for x in arrays)


def sizes(q, k, causal):
    return f"T_q={q.shape[2]}, T_k={k.shape[2]}, Dh={q.shape[3]}, {'causal' if causal else 'not causal'}"


def no_traces(submission, got, function):
    """The call changed none of its arguments."""
    changed = submission.mutated(got)
    claim(not changed, f"{function}: the call changed its argument {', '.join(map(str, changed))}; arguments belong to the caller", got=got)


def usable(part, right):
    return isinstance(part, Result) and part.shape == right.shape


LATER_CALLS = 9  # before a result is read again: buffers may be used by turns


def history(submission, rng, function, ask, width, batch=2):
    """Calls with the same shapes and other values, read again after the caller has written into them."""
    first, second = (qkv(rng, 4, 6, batch=batch, heads=2, width=width, dtype="float32") for _ in range(2))
    for causal in (True, False, True):
        one = ask(first, causal, _keep=True)
        no_traces(submission, one, function)
        is_answer(ask(second, causal), attention(*second, causal), "float32", function, "another call with the same shapes")
        if claim_tuple(one, 2, "(out, lse)", function, ""):
            for _ in range(LATER_CALLS):
                ask(second, causal)
            is_answer(submission.reread(one), attention(*first, causal), "float32", function, "read again after other calls", "A later call changed it")
            submission.scribble(one)
        is_answer(ask(first, causal), attention(*first, causal), "float32", function, "once more, after the caller wrote into the result")
    because = "It is tensors that are remembered, and not what is in them: their caller had changed them in place"
    got = ask(first, True, _before=held(second, "float32"))
    is_answer(got, attention(*first, True), "float32", function, "the same tensors with new values", because)


def misfits(rng, ask, width):
    """Every pair of sizes that has to agree and doesn't, those too that would broadcast."""
    x = rng.standard_normal((4, 4, 8, 2 * width)).astype("float32")
    whole = np.s_[:2, :2, :3, :width]
    cases = {
        "rank 3": (np.s_[0, :2, :3, :width],) * 3, "rank 5": (np.s_[None, :2, :2, :3, :width],) * 3, "rank 3, q alone": (np.s_[0, :2, :3, :width], whole, whole),
        "rank 3, k and v": (whole, np.s_[0, :2, :3, :width], np.s_[0, :2, :3, :width]),
        "2 keys, 3 values": (whole, np.s_[:2, :2, :2, :width], whole), "3 keys, 1 value": (whole, whole, np.s_[:2, :2, :1, :width]),
        "batch of q 2, of k and v 3": (whole, np.s_[:3, :2, :3, :width], np.s_[:3, :2, :3, :width]),
        "batch of q 2, of k and v 1": (whole, np.s_[:1, :2, :3, :width], np.s_[:1, :2, :3, :width]),
        "batch of v 1": (whole, whole, np.s_[:1, :2, :3, :width]),
        "heads of q 4, of k and v 2": (np.s_[:2, :4, :3, :width], whole, whole),
        "heads of q 2, of k and v 1": (whole, np.s_[:2, :1, :3, :width], np.s_[:2, :1, :3, :width]),
        "width of q differs": (np.s_[:2, :2, :3, : 2 * width], whole, whole), "width of k differs": (whole, np.s_[:2, :2, :3, : 2 * width], whole),
        "width of v differs": (whole, whole, np.s_[:2, :2, :3, : 2 * width]),
    }
    for case, parts in cases.items():
        refuses(lambda parts=parts: ask(*(x[part] for part in parts)), ("q", "k", "v"), case=case)


def flash(submission, arrays, causal=False, dtype="float32", **options):
    """The kernel's result; the fence keeps stray writes off the memory of the process, so that they are seen and not died of."""
    return submission.flash_attention(*held(arrays, dtype), causal=causal, **{"_fence": True, **options})


def is_near(got, want):
    """Whether the outputs are right to a few digits."""
    return isinstance(got, tuple) and len(got) > 0 and near(got[0], want[0])


def near(part, right):
    """Whether a result is right to a few digits."""
    return usable(part, right) and bool(np.isfinite(part.array).all()) and np.abs(part.array - right).max() <= 4e-3 * np.abs(right).max()


def stayed_inside(submission, got, case):
    """Nothing was written past a tensor that the call made, nor to or around an argument."""
    spilled, changed = submission.spilled(got), submission.mutated(got)
    claim(not spilled, f"{FLASH}: the kernel wrote outside a tensor of shape {' and '.join(spilled)}; rows past T_q must not be stored", got=got, case=case)
    claim(not changed, f"{FLASH}: the call wrote to or around its argument {', '.join(map(str, changed))}", got=got, case=case)
