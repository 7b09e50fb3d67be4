"""How exercise 03 reads in other conventions. The alignment is no exchange of arrays: its oracles ask for it (``causal_oracles.offset``)."""

from attngrade.checks.conventions import RESULT, opposite, reads


@reads("mask-polarity", of="causal_mask")
@reads("mask-polarity", of="padding_mask")
def masks_that_come_back(given):
    return {RESULT: opposite}


@reads("mask-polarity", of="mask_scores")
@reads("mask-polarity", of="masked_softmax")
def masks_that_are_given(given):
    return {"mask": opposite}
