# mistake: masked_softmax takes masks of numbers for masks, and lets a mask enlarge the scores
# says: masked_softmax, a mask of float32
# behind: the solution
def masked_softmax(scores, mask):
    wide = torch.promote_types(scores.dtype, torch.float32)
    mask = mask != 0
    logits = scores.to(wide).masked_fill(~mask, float("-inf"))
    logits = logits.masked_fill(~mask.any(-1, keepdim=True), 0.0)
    return logits.softmax(-1).masked_fill(~mask, 0.0).to(scores.dtype)
