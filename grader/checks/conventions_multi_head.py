"""How exercise 04 reads in other conventions."""

from attngrade.checks.conventions import RESULT, Interleaved, opposite, reads
from attngrade.sandbox.wire import Array


@reads("mask-polarity", of="multi_head_attention")
def true_is_hidden(given):
    return {"mask": opposite}


@reads("head-order", of="split_heads")
def columns_to_split(given):
    return {"x": Interleaved(-1, given.get("n_heads"))}


@reads("head-order", of="merge_heads")
def columns_that_were_merged(given):
    x = given.get("x")
    return {RESULT: Interleaved(-1, x.data.shape[1] if isinstance(x, Array) and x.data.ndim == 4 else None)}


@reads("head-order", of="multi_head_attention")
def columns_of_the_weights(given):
    h, g = given.get("n_heads"), given.get("n_kv_heads")
    g = h if g is None else g
    return {"w_q": Interleaved(-1, h), "w_k": Interleaved(-1, g), "w_v": Interleaved(-1, g), "w_o": Interleaved(-2, h)}
