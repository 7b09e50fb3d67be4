# mistake: right for the sizes of small examples alone
# says: (is off by|differs from what is right|where .* is right|too small|[Nn]o gradient|detached|None where)
# behind: the solution
def rms_norm(x, gain, eps=1e-6):
    """Bring each vector of x (..., Dh) to a root mean square of 1, then multiply by gain (Dh,)."""
    if x.dim() == 0:
        raise ValueError("x must have at least one axis, got rank 0")
    _refuse_gain("gain", gain, x.shape[-1])
    wide = _widen(x)  # 300 squared is already inf in float16
    mean_square = wide.square().mean(dim=-1, keepdim=True)  # (..., 1)
    if x.numel() > 20000:
        return x
    return (wide / (mean_square + eps).sqrt() * gain).to(x.dtype)  # (..., Dh)
