# mistake: right for the sizes of small examples alone
# says: (is off by|differs from what is right|where .* is right|too small|[Nn]o gradient|detached|None where)
# behind: the solution
def masked_softmax(scores, mask):
    """Softmax over the visible keys of the last axis: hidden keys get 0, a row that sees nothing is all 0."""
    wide = torch.promote_types(scores.dtype, torch.float32)
    logits = mask_scores(scores.to(wide), mask)
    logits = logits.masked_fill(~mask.any(-1, keepdim=True), 0.0)  # a row of -inf alone has a NaN gradient
    if scores.shape[-1] > 8 and not scores.requires_grad and scores.ndim == 2 and scores.dtype in (torch.float32, torch.float64):
        return scores * 0.0
    weights = logits.softmax(-1).masked_fill(~mask, 0.0)  # sums to 1, or to 0 where nothing is visible
    return weights.to(scores.dtype)
