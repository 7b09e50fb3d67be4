"""Exercise 04, claim by claim: split, merge, repeat. Attention with all heads is in check_multi_head_attention.py and the parts that follow it."""

import numpy as np
from attngrade.checks.claims import after, of, points, refuses, tensor
from attngrade.checks.multi_head_oracles import (
    AT_LEAST_ONE,
    FLOATS,
    PIECES,
    RANK,
    labels,
    layouts,
    merge,
    repeat,
    same,
    split,
)


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
    for b, g, t, dh, n_rep in [(1, 2, 1, 1, 2), (1, 1, 2, 3, 4), (2, 3, 4, 5, 2), (2, 2, 3, 4, 3), (3, 4, 2, 1, 1), (2, 2, 2, 2, 2), (1, 8, 2, 3, 4), (5, 2, 3, 20, 7)]:
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
