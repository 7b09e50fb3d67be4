# mistake: right for the sizes of small examples alone
# says: (is off by|differs from what is right|where .* is right|too small|[Nn]o gradient|detached|None where)
# behind: the solution
def saturation(logits):
    """Return, as a float, the mean over all rows (..., T_k) of the Frobenius norm of the softmax Jacobian."""
    if logits.dim() == 0:
        raise ValueError("logits must have at least one axis, got rank 0")
    p = logits.double().softmax(dim=-1)  # (..., T_k)
    square = p.square().sum(dim=-1)  # (...)
    frobenius = (square + square**2 - 2 * p.pow(3).sum(dim=-1)).clamp(min=0).sqrt()  # of diag(p) - p p^T, without building it
    return frobenius.flatten()[:2000].mean().item()
