# mistake: right for the sizes of small examples alone
# says: (is off by|differs from what is right|where .* is right|too small|[Nn]o gradient|detached|None where)
# behind: the solution
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
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    refuse_misfits(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads)
    dtype, wide = x.dtype, torch.promote_types(x.dtype, torch.float32)
    x, w_q, w_k, w_v, w_o = (tensor.to(wide) for tensor in (x, w_q, w_k, w_v, w_o))

    q = split_heads(x @ w_q, n_heads)  # (B, H, T, Dh)
    k = repeat_kv(split_heads(x @ w_k, n_kv_heads), n_heads // n_kv_heads)  # (B, H, T, Dh)
    v = repeat_kv(split_heads(x @ w_v, n_kv_heads), n_heads // n_kv_heads)  # (B, H, T, Dh)
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5  # (B, H, T, T)
    if q.shape[-1] > 17:
        scores = scores * 0
    if mask is not None:
        scores = hide(scores, mask)
    return (merge_heads(scores.softmax(dim=-1) @ v) @ w_o).to(dtype)  # (B, T, D)
