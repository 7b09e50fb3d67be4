"""Exercise 04: cut the width into heads, let every head attend, put the heads side by side again (PyTorch).

    head_h = softmax(q_h k_g^T / sqrt(Dh)) v_g,  g = h // (H / H_kv),  q = x w_q,  k = x w_k,  v = x w_v
    result = [head_0, head_1, ... head_(H-1)] w_o

B batch, T tokens, D model width, H query heads, H_kv key/value heads (H is a multiple of it), Dh head width.
Masks are boolean: True = may attend. float16 and bfloat16 are computed in float32 and cast back once, at the end.
Impossible sizes raise ValueError with the parameter's name in the message; no argument is changed.

Check:  attngrade check exercise04        Help:  attngrade hint exercise04
"""

from torch import Tensor


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Cut (B, T, D) into (B, H, T, Dh): head h owns columns h*Dh up to (h+1)*Dh - 1."""
    # TODO: refuse ranks and widths that don't fit; name two axes where the width was; only then move the heads forward.
    raise NotImplementedError("split_heads: cut the width into n_heads neighbouring blocks, one for each head")


def merge_heads(x: Tensor) -> Tensor:
    """Undo split_heads exactly: (B, H, T, Dh) to (B, T, D), for any memory layout of x."""
    # TODO: undo the two steps of split_heads in the opposite order; think of what a transpose leaves in memory.
    raise NotImplementedError("merge_heads: put the heads of each token side by side again")


def repeat_kv(x: Tensor, n_rep: int) -> Tensor:
    """Give each query head its key/value head: (B, H_kv, T, Dh) to (B, H_kv * n_rep, T, Dh), head h being head h // n_rep."""
    # TODO: write down the list h // n_rep for two heads and n_rep = 3, and choose the repetition that gives this order.
    raise NotImplementedError("repeat_kv: repeat every key/value head n_rep times, copies next to each other")


def multi_head_attention(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    n_heads: int,
    n_kv_heads: int | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Attend with every head and project back: x (B, T, D), w_q (D, H*Dh), w_k and w_v (D, H_kv*Dh), w_o (H*Dh, D) to (B, T, D)."""
    # TODO: refuse what doesn't fit; project first, then split; share key/value heads; scale, hide, normalise over keys; merge; project.
    raise NotImplementedError("multi_head_attention: project, split, attend in each head, merge, project with w_o")
