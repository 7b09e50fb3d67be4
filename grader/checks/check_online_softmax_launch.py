"""Exercise 06, claim by claim: that one launch of one kernel does the work, as a GPU would run it."""

import math

from attngrade.checks.claims import Raised, after, arguments, claim, disown, of, points
from attngrade.checks.online_claims import FLASH, MIB, flash, held, is_answer, is_near, near, sizes, usable
from attngrade.checks.online_oracles import LAYOUTS, attention, qkv


@points(4)
@of(FLASH)
@after("kernel-stays-inside-its-tensors")
def test_one_launch_does_the_work(submission, rng, device):
    """One launch of your own @triton.jit kernel computes out and lse from the inputs where they lie: no copies, no partial outputs."""
    drawn = int(rng.integers(17, 40)), int(rng.integers(40, 80))
    for (t_q, t_k), causal, dtype in [((3, int(rng.integers(260, 300))), False, "float32"), ((5, 5), True, "float32"), (drawn, True, "float16")]:
        arrays, others = (qkv(rng, t_q, t_k, batch=1, heads=2, width=32, dtype=dtype) for _ in range(2))
        case, want = sizes(*arrays[:2], causal), attention(*arrays, causal)
        alone = qkv(rng, t_q, t_k + 1, batch=1, heads=2, width=32, dtype=dtype)  # of a size of its own: what is remembered of it comes back in no other call
        without_kernel(lambda alone=alone, causal=causal, dtype=dtype: flash(submission, alone, causal, dtype, _decoy=True), attention(*alone, causal), sizes(*alone[:2], causal))
        got = examined(submission, held(others, dtype), causal, case, _during=held(arrays, dtype))
        is_answer(got, want, dtype, FLASH, f"{case}, {dtype}, other values while the kernel runs",
                  worked_out_outside(submission, got, want, held(arrays, dtype), causal))
        outside = attention(*others, causal)
        if isinstance(got, tuple) and any(near(part, right) for part, right in zip(got, outside, strict=False)):
            disown(FLASH, "gives what its kernel computes")
        launched(len(submission.launches(got)) if isinstance(got, tuple) else 0, got, case)
        finished(submission.last, got, case)
    programs, tile = everywhere(submission, rng)
    for call in submission.calls:  # all that was asked so far: every shape, dtype and layout
        if call.function == FLASH and call.message["op"] == "call" and call.raised is None and call.replayable:
            launched(len(call.launches), None, "in an earlier call: " + arguments(call))
            q = call.message["kwargs"].get("q", (*call.message["args"], None)[0])
            frugal(call.launches, q.data.shape, None, "in an earlier call: " + arguments(call), beside=1024)
            finished(call, None, "in an earlier call: " + arguments(call))
    no_copies(submission, rng)
    if device == "cpu":
        a_tile_at_a_time(submission, rng, programs, tile)


def a_tile_at_a_time(submission, rng, programs, tile):
    """The kernel walks over the keys, and ``programs`` share some hundred queries with tensors of ``tile`` numbers; one tile that holds them all ends where a GPU's registers do."""
    values = qkv(rng, 1, 4096, batch=1, heads=1, width=128, dtype="float16")
    arrays, taken, got = held(values, "float16"), math.inf, None
    for _ in range(6):  # again if it looks too much: the system counts other things as well
        if taken >= 4 * MIB:
            got = submission.flash_attention(*arrays)
            taken = min(taken, submission.last.kernel_bytes)  # of the kernel alone: what stands in for a wrong one runs elsewhere
    claim(taken < 4 * MIB, f"{FLASH}: for one query and 4096 keys the kernel took {taken / MIB:.1f} MiB beside its tensors, where tiles of 128 keys take less than one. "
          "It looks as if one tile held all keys, which fits into no GPU; walk over them, with a running maximum, sum and output", got=got, case=sizes(*values[:2], False))
    is_answer(got, attention(*values), "float16", FLASH, f"{sizes(*values[:2], False)}, float16")
    if programs != 1:
        return
    values = qkv(rng, 2048, 3, batch=1, heads=1, width=128, dtype="float16")
    got = examined(submission, held(values, "float16"), False, sizes(*values[:2], False))
    whole = largest(submission.last)
    claim(tile is None or whole is None or whole < 6 * tile, f"{FLASH}: with 2048 queries the largest tensor of the kernel has {whole} numbers, and {tile} with some hundred: one tile holds "
          "all queries, which fits into no GPU; give each program a tile of them", got=got, case=sizes(*values[:2], False))
    is_answer(got, attention(*values), "float16", FLASH, f"{sizes(*values[:2], False)}, float16")


def largest(call):
    """Numbers in the largest tensor of a call's kernel, as its compiler reads it; None where that isn't known."""
    return call.launches[0].get("largest") if call.launches else None


def everywhere(submission, rng):
    """The kernel computes what comes back at every width, in every layout, in one tile and in several. Gives how many programs shared the longest queries of one head, and how large their tensors were."""
    programs, tile = None, None
    several = int(rng.integers(33, 80)), int(rng.integers(130, 160))
    tall = int(rng.integers(70, 140)), int(rng.integers(150, 200))
    plain = "contiguous", {}
    for (t_q, t_k), width, batch, causal, dtype, (name, layout), looked_at in [
        (several, 16, 2, True, "float32", LAYOUTS[int(rng.integers(len(LAYOUTS)))], True), ((2, 3), 128, int(rng.integers(4, 7)), False, "float16", plain, True),
        ((4, int(rng.integers(66, 90))), 64, 2, bool(rng.integers(2)), "float32", plain, False), ((int(rng.integers(4, 8)), 3), 16, 2, True, "float16", LAYOUTS[1], False),
        (tall, int(rng.choice([64, 128])), 1, True, "float16", plain, True), ((2, int(rng.integers(310, 600))), int(rng.choice([16, 32])), 1, True, "float32", plain, False),
    ]:
        arrays, others = (qkv(rng, t_q, t_k, batch=batch, heads=1, width=width, dtype=dtype) for _ in range(2))
        own, secret = (held(some, dtype, **layout) for some in (others, arrays))
        got = examined(submission, own, causal, sizes(*arrays[:2], causal), _during=secret, _examined=looked_at)
        want, told = attention(*arrays, causal), f"{sizes(*arrays[:2], causal)}, {name}, {dtype}, other values while the kernel runs"
        if (t_q, t_k) == tall:
            programs = max((math.prod(launch["grid"]) for launch in submission.last.launches), default=None)
            tile = largest(submission.last)
        is_answer(got, want, dtype, FLASH, told, worked_out_outside(submission, got, want, held(arrays, dtype, **layout), causal))
    return programs, tile


def launched(n, got, case):
    """Exactly one kernel."""
    claim(n > 0, f"{FLASH}: no @triton.jit kernel of this file was launched; part 3 has to run in a kernel of your own", got=got, case=case)
    claim(n < 2, f"{FLASH}: {n} kernels were launched where one fused kernel was asked: the state stays in registers until the end", got=got, case=case)


def examined(submission, arrays, causal, case, **options):
    """A call whose kernel Triton's compiler reads as well, as for a GPU; where that finds none in it, what it gives is nobody's. No program may depend on what another one left."""
    try:
        got = submission.flash_attention(*arrays, causal=causal, **{"_fence": True, "_examined": True, **options})
    except Raised as raised:
        if raised.type == "NotTriton":
            disown(FLASH, "is a kernel that a GPU would run")
        raise
    for launch in submission.last.launches:
        claim(not launch.get("overlap"), f"{FLASH}: a program writes over what another one has left in out or lse. On a GPU programs run at once and in no order: "
              "each one owns its rows, walks over all of their keys, and writes once", got=got, case=case)
    return got


def finished(call, got, case):
    """What comes back as out is what the kernel wrote: nothing of it is left to PyTorch."""
    claim(call.as_written[:1] != (False,), f"{FLASH}: out isn't what the kernel wrote but was worked on after it: divide by l, cast and set rows that see nothing to 0 in the kernel, "
          "before it stores them; another pass over memory is what fusing saves", got=got, case=case)


def worked_out_outside(submission, got, want, arrays, causal):
    """The sentence for a result that is right when asked plainly and isn't that of the values which stood in the inputs while the kernel ran; None for any other."""
    if is_near(got, want) and near(got[1], want[1]):
        return None
    submission.replayable = False  # what is remembered of the call before can't be played again
    try:
        again = submission.flash_attention(*arrays, causal=causal, _fence=True)
    finally:
        submission.replayable = True
    if not (is_near(again, want) and near(again[1], want[1])):
        return None
    return "While the kernel ran, other values stood in q, k and v than before and after, and the result has to be theirs: what is copied, or worked out outside the kernel, isn't."


def without_kernel(ask, want, case):
    """The call again with the kernel replaced by one that does nothing: neither part may come out right."""
    try:
        got = ask()
    except Raised:
        return  # a submission may well notice
    for name, part, right in zip(("out", "lse"), got if isinstance(got, tuple) else (), want, strict=False):
        if usable(part, right):
            claim(not near(part, right), f"{FLASH}: with a kernel that does nothing in place of yours, {name} still comes out right, so the kernel isn't what computes it",
                  got=part, case=case)


def no_copies(submission, rng):
    """The kernel gets the inputs where they lie and an output to fill, and no other memory than O(B * H * T_q)."""
    for name, layout in [("contiguous", {}), *LAYOUTS]:
        q, k, v = qkv(rng, 3, 200, batch=1, heads=2, width=128, dtype="float32")
        got = submission.flash_attention(*held((q, k, v), "float32", **layout))
        frugal(submission.launches(got) if isinstance(got, tuple) else (), q.shape, got, f"{sizes(q, k, False)}, {name}")


def frugal(launches, shape, got, case, beside=0):
    """No launch was handed more new memory than out and lse take, but for a few bytes a row."""
    fresh, rows = max((launch["fresh_bytes"] for launch in launches), default=0), math.prod(shape[:3])
    tiles = math.prod(shape[:2]) * -(-shape[2] // 128) * 128  # lse may have whole tiles of rows, cut to T_q afterwards
    claim(fresh <= rows * (shape[3] * 4 + 64) + 4 * tiles + beside, f"{FLASH}: beside its inputs the kernel was given {fresh} bytes of new memory; out and lse take "
          f"{rows * (shape[3] * 4 + 4)}. A copy of an input, or one output for each split of the keys, is memory that a fused kernel doesn't need", got=got, case=case)
