# mistake: all of k and v is made float32 before the loop, and any keyword is taken
# says: beside the arguments
# behind: the solution
_blocks = blockwise_attention


def blockwise_attention(q, k, v, block_size, causal=False, **ignored):
    wide = torch.promote_types(q.dtype, torch.float32)
    out, lse = _blocks(q.to(wide), k.to(wide).contiguous().clone(), v.to(wide).contiguous().clone(), block_size, causal)
    return out.to(q.dtype), lse
