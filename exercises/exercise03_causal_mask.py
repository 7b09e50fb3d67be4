"""Exercise 03: hide the future before the softmax, and nothing else.

    weights = softmax(q @ k^T / sqrt(Dh)  where key j is visible to query i,  -inf elsewhere)
    j is visible to i   iff   j <= i + (T_k - T_q)          the last query sits on the last key

Masks are boolean and True means "may attend". q (B, H, T_q, Dh), k and v (B, H, T_k, Dh), T_q and T_k of any size:
with more keys than queries the extra keys are the past (a cache); with fewer, the first queries see nothing at all.
Softmax and sums run in float32 (float64 for float64 input), and the result is cast back once.
What can't be right (a negative size, a length beyond t_k, a mask that doesn't fit) is a ValueError that names it.

Off limits: scaled_dot_product_attention, nn.MultiheadAttention, torch.nn.attention.
Check: attngrade check exercise03        Help: attngrade hint exercise03
"""



def causal_mask(t_q, t_k=None, device=None):
    """Boolean (t_q, t_k): may query i attend to key j? Without t_k there are as many keys as queries."""
    # TODO: refuse negative sizes, place the queries on the keys' axis from its end, then compare positions.
    raise NotImplementedError("causal_mask has to say, as a boolean (t_q, t_k), which keys each query may see")


def padding_mask(lengths, t_k):
    """Boolean (B, 1, 1, t_k): is key j of row b a real token, j < lengths[b]? `lengths` is int64 (B,)."""
    # TODO: refuse lengths outside 0..t_k, compare every position with every length, add the axes of heads and queries.
    raise NotImplementedError("padding_mask has to say, as a boolean (B, 1, 1, t_k), which keys are real tokens")


def mask_scores(scores, mask):
    """The scores with -inf wherever the mask, which broadcasts to their shape, is False; a new tensor."""
    # TODO: refuse a mask that isn't boolean or would enlarge the scores, then fill where it is False.
    raise NotImplementedError("mask_scores has to put -inf at the hidden positions and leave the others alone")


def masked_softmax(scores, mask):
    """Softmax over the visible keys of the last axis: hidden keys get 0, a row that sees nothing is all 0."""
    # TODO: hide, give rows that see nothing something finite to work on, normalise, set hidden weights to zero.
    # (A NaN that's repaired after the softmax can come back in the gradient: prevent it instead.)
    raise NotImplementedError("masked_softmax has to share a weight of one among the visible keys of each row")


def causal_attention(q, k, v):
    """Causal attention with scale Dh ** -0.5: (B, H, T_q, Dh)."""
    # TODO: refuse shapes that don't fit, widen, score and scale, hide and normalise, average the values, cast back.
    raise NotImplementedError("causal_attention has to average the values of the present and the past of each query")
