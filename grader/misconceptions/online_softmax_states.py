"""What people get wrong in exercise 06: merging two softmax states."""

import torch
from attngrade.misconceptions import misconception
from attngrade.solutions import exercise06_online_softmax as right

NONE = float("-inf")
right_merge = right.merge_states


def widened(a, b):
    """Both states as the sums need them, refused where they don't fit."""
    right_merge(a, b)
    wide = torch.promote_types(a[0].dtype, torch.float32)
    return tuple(x.to(wide) for x in a), tuple(x.to(wide) for x in b)


def home(state, a):
    return tuple(x.to(y.dtype) for x, y in zip(state, a, strict=True))


def weights(m_a, m_b, m):
    at = m.masked_fill(m == NONE, 0.0)
    return torch.exp(m_a - at), torch.exp(m_b - at)


def summed(a, b, m, f_l, g_l, f_o=None, g_o=None):
    """A state from the maximum and the factors of both sums, and of both outputs where they differ."""
    f_o, g_o = f_l if f_o is None else f_o, g_l if g_o is None else g_o
    return m, a[1] * f_l + b[1] * g_l, a[2] * f_o[..., None] + b[2] * g_o[..., None]


@misconception("states-added-as-they-are", of="merge_states", question="online-softmax-rescale")
def unscaled(a, b):
    """Your merge adds sums and outputs as they are, though each side is measured from its own maximum.

    Example: one key with score 2 and one with score 0: you say l = 2, and 1 + exp(-2) = 1.135 is right.
    Why: l_a = sum exp(s - m_a). Measured from the common maximum m it is l_a exp(m_a - m), and o_a likewise.
    Look at: the factors exp(m_a - m) and exp(m_b - m), which belong to l and to o.
    """
    x, y = widened(a, b)
    m = torch.maximum(x[0], y[0])
    one = torch.ones_like(m)
    return home(summed(x, y, m, one, one), a)


@misconception("only-the-sums-rescaled", of="merge_states", question="online-softmax-rescale")
def outputs_unscaled(a, b):
    """Your merge brings the sums l to the common maximum and adds the outputs o as they are.

    Example: a key with score 2, value 1 and one with score 0, value 3: you say o = 4, and 1 + 3 exp(-2) = 1.406 is right.
    Why: o = sum exp(s - m) v is measured from the same maximum as l, so it needs the same factor.
    Look at: the line that adds o_a and o_b.
    """
    x, y = widened(a, b)
    m = torch.maximum(x[0], y[0])
    return home(summed(x, y, m, *weights(x[0], y[0], m), torch.ones_like(m), torch.ones_like(m)), a)


@misconception("only-the-outputs-rescaled", of="merge_states", question="online-softmax-rescale")
def sums_unscaled(a, b):
    """Your merge brings the outputs o to the common maximum and adds the sums l as they are.

    Example: one key with score 2 and one with score 0: you say l = 2, and 1 + exp(-2) = 1.135 is right.
    Why: l = sum exp(s - m) is measured from the same maximum as o, so it needs the same factor.
    Look at: the line that adds l_a and l_b.
    """
    x, y = widened(a, b)
    m = torch.maximum(x[0], y[0])
    one = torch.ones_like(m)
    return home(summed(x, y, m, one, one, *weights(x[0], y[0], m)), a)


@misconception("rescaled-the-wrong-way", of="merge_states", question="online-softmax-rescale")
def wrong_way(a, b):
    """Your merge multiplies by exp(m - m_a), the inverse of the factor: the side with the smaller maximum grows instead of shrinking.

    Example: one key with score 2 and one with score 0: you say l = 1 + exp(2) = 8.39, and 1 + exp(-2) = 1.135 is right.
    Why: exp(s - m) = exp(s - m_a) exp(m_a - m), and m_a - m is never positive: a factor is at most 1.
    Look at: the sign in the exponent.
    """
    x, y = widened(a, b)
    m = torch.maximum(x[0], y[0])
    f, g = torch.exp(m - x[0]), torch.exp(m - y[0])
    return home(summed(x, y, m, f, g), a)


@misconception("factors-swapped", of="merge_states")
def swapped(a, b):
    """Your merge multiplies each side by the factor of the other one.

    Example: one key with score 2 and two with score 0: you say l = exp(-2) + 2 = 2.135, and 1 + 2 exp(-2) = 1.271 is right.
    Why: side a is brought from m_a to m, so its factor is exp(m_a - m).
    Look at: which of m_a and m_b stands in which factor.
    """
    x, y = widened(a, b)
    m = torch.maximum(x[0], y[0])
    f, g = weights(x[0], y[0], m)
    return home(summed(x, y, m, g, f), a)


@misconception("two-empty-states-make-nan", of="merge_states", question="empty-row")
def empty_nan(a, b):
    """Your merge of two empty states is NaN: -inf - (-inf) has no value.

    Example: both states (-inf, 0, 0): you return l = NaN and o = NaN, and (-inf, 0, 0) is right.
    Why: the factor is exp(m_a - m), and with both sides empty m_a = m = -inf.
    Look at: the exponent alone: put 0 in place of m where m is -inf. exp(-inf - 0) is 0, as it should be.
    """
    x, y = widened(a, b)
    m = torch.maximum(x[0], y[0])
    return home(summed(x, y, m, torch.exp(x[0] - m), torch.exp(y[0] - m)), a)


@misconception("empty-only-as-a-whole", of="merge_states", question="empty-row", extends="two-empty-states-make-nan")
def empty_only_as_a_whole(a, b):
    """Your merge copes with an empty side only where all its rows are empty; where some are, a row that is empty on both sides is -inf - (-inf), which is NaN.

    Example: two rows, the first empty on both sides: l and o are NaN there and right in the second row.
    Why: a state is a tensor of states, and each row has a maximum of its own.
    Look at: `.all()` in the test for an empty side; replace m by 0 where it is -inf before you subtract it.
    """
    x, y = widened(a, b)
    for one, other in ((x, y), (y, x)):
        if bool((one[0] == NONE).all()):
            return home(tuple(part.clone() for part in other), a)
    m = torch.maximum(x[0], y[0])
    return home(summed(x, y, m, torch.exp(x[0] - m), torch.exp(y[0] - m)), a)


@misconception("weights-from-a-maximum-of-zero", of="merge_states", question="online-softmax-rescale")
def from_zero(a, b):
    """Your merge measures both sides from 0 where both maxima are negative, and returns the true maximum beside sums that aren't measured from it.

    Example: m=-3 and m=-4, l=1 each: your l is e**-3 + e**-4, right is 1 + e**-1, with m=-3.
    Why: l and o are sums of exp(s - m) for the very m that is returned; a stand-in for -inf must not reach finite maxima.
    Look at: `clamp(min=0)`, `relu` or a maximum that starts at 0.
    """
    x, y = widened(a, b)
    m = torch.maximum(x[0], y[0])
    at = m.clamp(min=0.0)
    return home(summed(x, y, m, torch.exp(x[0] - at), torch.exp(y[0] - at)), a)


@misconception("the-far-smaller-side-dropped", of="merge_states")
def far_side_dropped(a, b):
    """Your merge leaves a side out whose maximum lies far below the other one; it's small there, and not nothing.

    Example: one key with score 10 and one with score 0: you say l = 1, and 1 + exp(-10) = 1.0000454 is right.
    Why: merges follow one another, and each drops a little more; the factor exp(m_a - m) goes to 0 by itself where it may.
    Look at: an `if`, a `where` or a threshold on m_a - m_b.
    """
    x, y = widened(a, b)
    m = torch.maximum(x[0], y[0])
    f, g = weights(x[0], y[0], m)
    return home(summed(x, y, m, f.masked_fill(x[0] < y[0] - 8.0, 0.0), g.masked_fill(y[0] < x[0] - 8.0, 0.0)), a)


@misconception("any-empty-state-makes-nan", of="merge_states", question="empty-row")
def one_empty_nan(a, b):
    """Your merge is NaN as soon as one of the states is empty.

    Example: a = (-inf, 0, 0): the union is b, and you return NaN.
    Why: 0 * inf and inf - inf are NaN, and the empty set has m = -inf.
    Look at: differences that have -inf on the wrong side, or a factor exp(+inf) that meets l = 0.
    """
    m, l, o = right_merge(a, b)
    nan = torch.isinf(a[0]) | torch.isinf(b[0])
    return m, l.masked_fill(nan, float("nan")), o.masked_fill(nan[..., None], float("nan"))


@misconception("nan-repaired-afterwards", of="merge_states", question="empty-row")
def repaired(a, b):
    """Your merge lets NaN arise where a side is empty and replaces it afterwards; the gradient keeps it.

    Example: two empty states: the values are right, and the gradient is NaN, since 0 * NaN is NaN.
    Why: `nan_to_num` and `where` repair the forward pass alone. In the backward pass the NaN factor is still multiplied in.
    Look at: the exponent. If m - m never meets -inf there is nothing to repair.
    """
    x, y = widened(a, b)
    m = torch.maximum(x[0], y[0])
    f, g = (torch.where(z == NONE, 0.0, torch.exp(z - m)) for z in (x[0], y[0]))
    return home(summed(x, y, m, f, g), a)


@misconception("empty-state-has-finite-maximum", of="merge_states")
def finite_empty(a, b):
    """Your merge turns the maximum of an empty set into a finite number; it has to stay -inf.

    Example: two empty states: you return m = {0 or a large negative number}, and -inf is right.
    Why: the maximum of no numbers is -inf, and lse = m + log l says so in the end.
    Look at: `nan_to_num`, `clamp` or a `where` that reaches the m that is returned.
    """
    m, l, o = right_merge(a, b)
    return m.masked_fill(m == NONE, 0.0), l, o


@misconception("empty-maximum-is-the-lowest-number", of="merge_states", extends="empty-state-has-finite-maximum")
def lowest_empty(a, b):
    """Your merge turns the maximum of an empty set into the lowest finite number; it has to stay -inf.

    Example: two empty states: you return m = -1.8e308, and -inf is right.
    Why: the maximum of no numbers is -inf, and lse = m + log l says so in the end.
    Look at: `nan_to_num` or `clamp`, which reach the m that is returned.
    """
    m, l, o = right_merge(a, b)
    return m.masked_fill(m == NONE, torch.finfo(m.dtype).min), l, o


@misconception("one-maximum-for-all-rows", of="merge_states")
def one_maximum(a, b):
    """Your merge takes one maximum over all rows; each row has its own.

    Example: row 0 with maxima near 1000 and row 1 with maxima near 0: row 1 becomes exp(-1000) = 0.
    Why: the maximum is subtracted so that the largest term of *each* sum is 1; another row's maximum makes it vanish.
    Look at: `max()` without an axis where the element-wise `torch.maximum` is meant.
    """
    x, y = widened(a, b)
    m = torch.maximum(x[0], y[0])
    m = m.amax().expand(m.shape) if m.numel() else m
    return home(summed(x, y, m.clone(), *weights(x[0], y[0], m)), a)


@misconception("the-later-maximum-wins", of="merge_states")
def later(a, b):
    """Your merge takes the maximum of the second state, not the larger of the two.

    Example: maxima 2 and 0: you return m = 0, and 2 is right.
    Why: any reference would do on paper, but the contract's m is the maximum, and a smaller one lets exp(m_a - m) overflow.
    Look at: the line that sets m.
    """
    x, y = widened(a, b)
    m = y[0]
    return home(summed(x, y, m, *weights(x[0], y[0], m)), a)


@misconception("the-smaller-maximum-wins", of="merge_states")
def smaller(a, b):
    """Your merge refers to the smaller of the two maxima.

    Example: maxima 1000 and 0: exp(1000 - 0) overflows, and exp(0 - 1000) = 0 is harmless.
    Why: measured from the larger maximum every factor is at most 1; measured from the smaller one they grow without bound.
    Look at: `minimum` where `maximum` is meant.
    """
    x, y = widened(a, b)
    m = torch.minimum(x[0], y[0])
    return home(summed(x, y, m, *weights(x[0], y[0], m)), a)


@misconception("state-is-normalised", of="merge_states")
def normalised(a, b):
    """Your merge divides o by l; a state holds the output before the division.

    Example: keys with scores 0 and 0 and values 1 and 3: you return o = 2, and 4 is right.
    Why: divided outputs can't be added to the next block's; the division comes once, after the last merge.
    Look at: the last line of the merge.
    """
    m, l, o = right_merge(a, b)
    return m, l, o / l.masked_fill(l == 0, 1.0)[..., None]


@misconception("state-holds-lse", of="merge_states")
def as_lse(a, b):
    """Your merge returns the log-sum-exp in place of the maximum, with l = 1 and a normalised output.

    Example: two keys with score 0: you return m = 0.693, l = 1, and m = 0, l = 2 is right.
    Why: (lse, 1, out) describes the same set, but the contract's m is the maximum; others read your states.
    Look at: `logaddexp` in place of `maximum`.
    """
    m, l, o = right_merge(a, b)
    safe = l.masked_fill(l == 0, 1.0)
    return m + torch.log(safe), torch.where(l == 0, l, 1.0), o / safe[..., None]


@misconception("powers-of-two", of="merge_states")
def base_two(a, b):
    """Your merge uses exp2 on natural exponents.

    Example: one key with score 2 and one with score 0: you say l = 1 + 2**-2 = 1.25, and 1 + exp(-2) = 1.135 is right.
    Why: 2**x = exp(x log 2). exp2 wants scores that were multiplied by log2(e) beforehand.
    Look at: `exp2`.
    """
    x, y = widened(a, b)
    m = torch.maximum(x[0], y[0])
    at = m.masked_fill(m == NONE, 0.0)
    return home(summed(x, y, m, torch.exp2(x[0] - at), torch.exp2(y[0] - at)), a)


@misconception("weights-from-raw-exponentials", of="merge_states")
def raw(a, b):
    """Your merge computes exp(m_a) and exp(m_b) themselves, which overflow or vanish.

    Example: maxima near 1000: exp(1000) = inf, and inf / inf = NaN.
    Why: only the difference m_a - m matters; exponentials of the maxima themselves leave the range of floating point.
    Look at: `exp(m_a)` anywhere: write exp(m_a - m).
    """
    x, y = widened(a, b)
    m = torch.maximum(x[0], y[0])
    top = torch.exp(m)
    one = torch.ones_like(top)
    f, g = (torch.where(m == NONE, one, torch.exp(z) / torch.where(m == NONE, one, top)) for z in (x[0], y[0]))
    return home(summed(x, y, m, f, g), a)


@misconception("merge-returns-a-list", of="merge_states")
def as_list(a, b):
    """Your merge returns a list; several results come as a tuple.

    Example: [m, l, o] where (m, l, o) is asked.
    Why: a tuple has a fixed number of parts and can't be changed by accident; the contract says so everywhere.
    Look at: the brackets after `return`.
    """
    return list(right_merge(a, b))


@misconception("merge-in-place", of="merge_states")
def in_place(a, b):
    """Your merge writes its result into the first state; arguments belong to the caller.

    Example: merge(a, b) and then merge(a, c): the second sees a changed a.
    Why: a state may be merged into several others (a tree of blocks does that).
    Look at: `mul_`, `add_`, `*=`, `+=`, `copy_` on a part of a state.
    """
    result = right_merge(a, b)
    for part, new in zip(a[1:], result[1:], strict=True):
        part.copy_(new)
    return result


@misconception("merge-is-detached", of="merge_states")
def detached(a, b):
    """Your merge cuts the graph: no gradient reaches the states.

    Example: o / l of a merged state: its gradient for o of a should be exp(m_a - m) / l, and there is none.
    Why: `no_grad`, `detach`, `.data`, `.item()` and NumPy all leave the graph.
    Look at: those names.
    """
    return tuple(x.detach() for x in right_merge(a, b))


@misconception("merge-always-in-float32", of="merge_states")
def single(a, b):
    """Your merge returns float32 whatever came in.

    Example: float64 states lose half of their digits, and float16 states come back as float32.
    Why: sums run in float32 *at least*, and a result has the dtype of its input.
    Look at: `.float()` without a way back: keep float64, and cast back once at the end.
    """
    return right_merge(*(tuple(x.float() for x in state) for state in (a, b)))


@misconception("merge-returns-float32-for-halves", of="merge_states", extends="merge-always-in-float32")
def halves_stay_wide(a, b):
    """Your merge computes half-precision states in float32, which is right, and doesn't cast the result back.

    Example: float16 states come back as float32.
    Why: a result has the dtype of its input.
    Look at: the return: `.to(m_a.dtype)`.
    """
    return right_merge(*widened(a, b))


def without_refusal(a, b):
    (m_a, l_a, o_a), (m_b, l_b, o_b) = a, b
    m = torch.maximum(m_a, m_b)
    f, g = weights(m_a, m_b, m)
    return m, l_a * f + l_b * g, o_a * f[..., None] + o_b * g[..., None]


@misconception("misfitting-states-not-refused", of="merge_states")
def unrefused(a, b):
    """Your merge doesn't look at shapes: misfits end in a RuntimeError of PyTorch's, or in a broadcast that nobody asked for.

    Example: o without its last axis, shape (3,) beside m (3,): it broadcasts to (3, 3).
    Why: the contract asks for a ValueError that names the argument, before anything is computed.
    Look at: m and l of both sides must have one shape, and o that shape and one axis more.
    """
    return without_refusal(a, b)


@misconception("misfitting-states-asserted", of="merge_states")
def asserted(a, b):
    """Your merge asserts that the shapes fit; the contract asks for a ValueError.

    Example: m of a (3,), m of b (4,): AssertionError.
    Why: `python -O` removes every assert, and callers can't tell a bug of yours from a mistake of theirs.
    Look at: `assert`: write `if ...: raise ValueError("a and b ...")`.
    """
    try:
        return right_merge(a, b)
    except ValueError:
        raise AssertionError("shapes") from None
