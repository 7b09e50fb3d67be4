"""What people get wrong in exercise 06: what a state means, which side of a merge is moved, what a merge leaves behind, which misfits it sees."""

import torch
from attngrade.misconceptions import misconception
from attngrade.misconceptions.online_softmax_states import NONE, home, right_merge, summed, weights, widened, without_refusal
from attngrade.misconceptions.online_softmax_walk import memory
from attngrade.solutions import exercise06_online_softmax as right

MERGE = "merge_states"


# ---------------------------------------------------------------- what a state means


@misconception("outputs-averaged", of=MERGE)
def averaged(a, b):
    """Your merge averages the two outputs with their sums as weights; unnormalised outputs are added.

    Example: two keys with score 0 and values 1 and 3: you say o = 2, and 4 is right.
    Why: an average undoes a division that a state hasn't seen yet: o = sum exp(s - m) v, and out = o / l comes after the last merge.
    Look at: l_a / l or l_b / l in the line of o: o = o_a exp(m_a - m) + o_b exp(m_b - m).
    """
    x, y = widened(a, b)
    m, l, _ = right_merge(x, y)
    f, _ = weights(x[0], y[0], m)
    share = (x[1] * f / l.masked_fill(l == 0, 1.0))[..., None]
    return home((m, l, share * x[2] + (1 - share) * y[2]), a)


@misconception("outputs-multiplied-by-their-sums", of=MERGE)
def unnormalised_again(a, b):
    """Your merge multiplies each output by its sum l before it adds them, as if o had been divided by l.

    Example: the state of two keys with score 0 and values 1 and 3 is o = 4, l = 2; merged with an empty one you say o = 8.
    Why: a state's o is the bare sum exp(s - m) v. Only an output that is divided by l has to be multiplied by it again.
    Look at: o_a * l_a and o_b * l_b: the factors exp(m_a - m) and exp(m_b - m) alone belong there.
    """
    x, y = widened(a, b)
    m = torch.maximum(x[0], y[0])
    f, g = weights(x[0], y[0], m)
    return home(summed(x, y, m, f, g, x[1] * f, y[1] * g), a)


@misconception("maximum-holds-lse", of=MERGE, extends="state-holds-lse")
def lse_beside_sums(a, b):
    """Your merge returns logaddexp(m_a, m_b) as the maximum, with sums and outputs measured from it.

    Example: two states with maximum 0: you return m = 0.693, and 0 is right.
    Why: logaddexp adds exponentials of maxima, and a maximum stands for one key only; the largest score of the union is the larger of the two.
    Look at: `logaddexp` or `logsumexp` where `maximum` is meant.
    """
    x, y = widened(a, b)
    m = torch.logaddexp(x[0], y[0])
    return home(summed(x, y, m, *weights(x[0], y[0], m)), a)


@misconception("larger-side-wins", of=MERGE)
def winner(a, b):
    """Your merge keeps the state with the larger maximum and drops the other one.

    Example: one key with score 2 and one with score 0: you say l = 1, and 1 + exp(-2) = 1.135 is right.
    Why: the smaller side counts for less, by exp(-2) here, and not for nothing.
    Look at: a `where` that picks one of the two states.
    """
    x, y = widened(a, b)
    first = x[0] >= y[0]
    return home(tuple(torch.where(first if p.ndim == first.ndim else first[..., None], p, q) for p, q in zip(x, y, strict=True)), a)


# ---------------------------------------------------------------- which side is moved, and by what


@misconception("only-the-first-state-rescaled", of=MERGE, question="online-softmax-rescale")
def first_alone(a, b):
    """Your merge brings the first state to the common maximum and adds the second one as it is.

    Example: maxima 2 and 0, one key each: you say l = 2, and 1 + exp(-2) = 1.135 is right. With the larger maximum in b nobody notices.
    Why: either side may have the smaller maximum, so each gets a factor of its own: exp(m_a - m) and exp(m_b - m).
    Look at: the terms of b: they have no factor.
    """
    x, y = widened(a, b)
    m = torch.maximum(x[0], y[0])
    return home(summed(x, y, m, weights(x[0], y[0], m)[0], torch.ones_like(m)), a)


@misconception("only-the-second-state-rescaled", of=MERGE, question="online-softmax-rescale")
def second_alone(a, b):
    """Your merge brings the second state to the common maximum and adds the first one as it is.

    Example: maxima 0 and 2, one key each: you say l = 2, and exp(-2) + 1 = 1.135 is right. With the larger maximum in a nobody notices.
    Why: either side may have the smaller maximum, so each gets a factor of its own: exp(m_a - m) and exp(m_b - m).
    Look at: the terms of a: they have no factor.
    """
    x, y = widened(a, b)
    m = torch.maximum(x[0], y[0])
    return home(summed(x, y, m, torch.ones_like(m), weights(x[0], y[0], m)[1]), a)


@misconception("second-output-not-rescaled", of=MERGE, question="online-softmax-rescale")
def second_output(a, b):
    """Your merge adds o_b as it is; the other three terms are brought to the common maximum.

    Example: maxima 2 and 0, one key each, values 1 and 3: you say o = 4, and 1 + 3 exp(-2) = 1.406 is right.
    Why: in a loop over blocks the second output may look new already; it is measured from its own block's maximum, as l_b is.
    Look at: the factor exp(m_b - m) in the line of o.
    """
    x, y = widened(a, b)
    m = torch.maximum(x[0], y[0])
    f, g = weights(x[0], y[0], m)
    return home(summed(x, y, m, f, g, f, torch.ones_like(m)), a)


@misconception("factor-from-the-other-maximum", of=MERGE, question="online-softmax-rescale")
def from_the_other(a, b):
    """Your merge multiplies the first state by exp(m_a - m_b) and leaves the second as it is, while m is the larger maximum.

    Example: maxima 2 and 0, one key each: you say l = exp(2) + 1 = 8.39, and 1 + exp(-2) = 1.135 is right.
    Why: both sides have to be measured from the m that is returned, the larger one, not from that of the second state.
    Look at: the exponent m_a - m_b: write m_a - m, and m_b - m for the other side.
    """
    x, y = widened(a, b)
    m = torch.maximum(x[0], y[0])
    at = y[0].masked_fill(y[0] == NONE, 0.0)
    return home(summed(x, y, m, torch.exp(x[0] - at), torch.exp(y[0] - at)), a)


@misconception("outputs-rescaled-twice", of=MERGE)
def twice(a, b):
    """Your merge multiplies the outputs by their factors twice.

    Example: maxima 2 and 0, one key each, values 1 and 3: you say o = 1 + 3 exp(-4) = 1.055, and 1 + 3 exp(-2) = 1.406 is right.
    Why: o = sum exp(s - m) v moves to another maximum by the same single factor as l.
    Look at: outputs that were scaled before they are scaled in the sum.
    """
    x, y = widened(a, b)
    m = torch.maximum(x[0], y[0])
    f, g = weights(x[0], y[0], m)
    return home(summed(x, y, m, f, g, f * f, g * g), a)


@misconception("factor-without-an-axis", of=MERGE)
def no_axis(a, b):
    """Your merge multiplies o (..., Dh) by a factor (...) without giving it the last axis.

    Example: m (3,), o (3, 6): PyTorch can't broadcast them; m (5, 5), o (5, 5, 5): it does, along the wrong axes.
    Why: broadcasting lines shapes up from the right, and o has one axis more than m.
    Look at: `factor[..., None]` or `factor.unsqueeze(-1)` in the line of o.
    """
    x, y = widened(a, b)
    m = torch.maximum(x[0], y[0])
    f, g = weights(x[0], y[0], m)
    return home((m, x[1] * f + y[1] * g, x[2] * f + y[2] * g), a)


# ---------------------------------------------------------------- what comes back, and what is left behind


@misconception("state-in-another-order", of=MERGE)
def reordered(a, b):
    """Your merge returns (m, o, l); a state is (m, l, o).

    Example: the second part has shape (..., Dh), and (...) is expected.
    Why: callers unpack by place, and hand your result to the next merge.
    Look at: the return.
    """
    m, l, o = right_merge(a, b)
    return m, o, l


@misconception("merged-maximum-is-missing", of=MERGE)
def without_maximum(a, b):
    """Your merge returns (l, o) without the maximum that they are measured from.

    Example: a tuple of two where (m, l, o) is asked.
    Why: without m nobody can merge the result with another state.
    Look at: the return.
    """
    return right_merge(a, b)[1:]


@misconception("merge-accumulates-into-a", of=MERGE, extends="merge-in-place")
def through_data(a, b):
    """Your merge accumulates into l and o of the first state, behind autograd's back; arguments belong to the caller.

    Example: after merge(a, b) the sums of a are other numbers, and the gradients for l_a and o_a are gone.
    Why: `.data` and `detach()` share memory with the tensor that they come from, so `mul_` or `+=` on them writes there.
    Look at: `mul_`, `add_`, `*=`, `+=` on something that came from a: multiply into a new tensor.
    """
    x, y = widened(a, b)
    f, g = weights(x[0], y[0], torch.maximum(x[0], y[0]))
    l = x[1].data.mul_(f) + y[1] * g
    o = x[2].data.mul_(f[..., None]) + y[2] * g[..., None]
    return home((torch.maximum(x[0], y[0]), l, o), a)


@misconception("factors-detached", of=MERGE)
def factors_detached(a, b):
    """Your merge detaches the factors exp(m_a - m) and exp(m_b - m): values are right, gradients for m_a and m_b are missing.

    Example: the gradient of l for m_a is l_a exp(m_a - m) where the other maximum is the larger one, and yours is None or 0.
    Why: subtracting a maximum for stability may be detached, since it cancels; these factors carry the weight of each side and don't cancel.
    Look at: `no_grad` or `detach` around the factors.
    """
    x, y = widened(a, b)
    m = torch.maximum(x[0], y[0])
    return home(summed(x, y, m, *(w.detach() for w in weights(x[0], y[0], m))), a)


def remembering():
    """A merge that remembers results by shape."""

    def merge_states(a, b):
        return memory("merged").setdefault((tuple(a[2].shape), a[2].dtype), right_merge(a, b))

    return merge_states


@misconception("merge-remembers-by-shape", of=MERGE)
def remembered(a, b):
    """Your merge remembers results by shape: other states of the same shape get the first answer.

    Example: merge(a, b), then merge(b, a) with other numbers: the second result is the first one again.
    Why: a result depends on values, not on shapes.
    Look at: the key of your cache.
    """
    return by_shape(a, b)


by_shape = remembering()


# ---------------------------------------------------------------- which misfits it sees


def merged_anyhow(a, b):
    """The union where shapes allow it, without a look at them."""
    x, y = (tuple(p.to(torch.promote_types(p.dtype, torch.float32)) for p in side) for side in (a, b))
    return home(without_refusal(x, y), a)


def sees(name, misfit, text):
    """A merge that refuses what ``misfit`` finds and nothing else."""

    def merge_states(a, b):
        if misfit(*(tuple(tuple(p.shape) for p in side) for side in (a, b))):
            raise ValueError("a and b")
        return merged_anyhow(a, b)

    merge_states.__doc__ = text
    return misconception(name, of=MERGE, extends="misfitting-states-not-refused")(merge_states)


only_between = sees("parts-of-one-state-not-compared", lambda a, b: a != b, """Your merge compares the parts of a with those of b, and not the parts of one state with each other.

    Example: o without its last axis on both sides, shape (3,) beside m (3,): you broadcast it to (3, 3).
    Why: two states can be malformed in the same way.
    Look at: l has the shape of m, and o that shape and one axis more, in a and in b.
    """)

only_inside = sees("states-not-compared-with-each-other", lambda a, b: any(s[1] != s[0] or len(s[2]) != len(s[0]) + 1 or s[2][:-1] != s[0] for s in (a, b)),
                   """Your merge looks at each state by itself, and not whether the two fit each other.

    Example: m of a (3,) and m of b (4,): PyTorch's RuntimeError; (3,) and (1,): a broadcast that nobody asked for.
    Why: a union is one of two key sets of the *same* queries, so shapes have to be equal, widths too.
    Look at: compare the shapes of a with those of b.
    """)

only_maxima = sees("only-maxima-compared", lambda a, b: a[0] != b[0], """Your merge compares m_a with m_b and looks at no other shape.

    Example: o of a (3, 4) and o of b (3, 5): PyTorch's RuntimeError where a ValueError is asked.
    Why: every part has to fit: l that of m, o that of m and one axis more, on both sides.
    Look at: the shapes of l and o.
    """)

only_outputs = sees("only-outputs-compared", lambda a, b: a[2] != b[2], """Your merge compares o_a with o_b and looks at no other shape.

    Example: l of b (2,) beside m of b (3,): PyTorch's RuntimeError where a ValueError is asked.
    Why: every part has to fit: l that of m, o that of m and one axis more, on both sides.
    Look at: the shapes of m and l.
    """)

only_widths = sees("only-widths-compared", lambda a, b: a[2][-1:] != b[2][-1:] or any(s[1] != s[0] or len(s[2]) != len(s[0]) + 1 or s[2][:-1] != s[0] for s in (a, b)),
                   """Your merge compares the widths Dh of the two states, and not the shapes in front of them.

    Example: m of a (3,) and m of b (4,) with one width: PyTorch's RuntimeError; (3, 6) and (1, 6): a broadcast that nobody asked for.
    Why: a union is one of two key sets of the *same* queries, so whole shapes have to be equal.
    Look at: o_a.shape == o_b.shape in place of the last size alone.
    """)


# ---------------------------------------------------------------- emptiness is a row's affair


@misconception("one-empty-row-empties-the-state", of=MERGE)
def one_empty_row(a, b):
    """Your merge takes a whole state for empty as soon as one of its rows is, and hands the other state back.

    Example: a has two rows, the first empty and the second full: the second row of a is lost.
    Why: each query has a state of its own; some have seen keys and some haven't.
    Look at: `.any()` in the test for an empty state: decide row by row, with `torch.where`, or let the factor exp(-inf) do it.
    """
    merged = right.merge_states(a, b)  # its refusals
    if bool((a[0] == NONE).any()):
        return tuple(part.clone() for part in b)
    return tuple(part.clone() for part in a) if bool((b[0] == NONE).any()) else merged
