"""How exercise 06 reads in other conventions."""

import math

from attngrade.checks.conventions import RESULT, At, Times, reads

NATURAL = At(1, Times(math.log(2)))  # (out, lse): a natural logarithm is log(2) times the one to base 2


@reads("log-base", of="blockwise_attention")
@reads("log-base", of="flash_attention")
def lse_in_base_two(given):
    return {RESULT: NATURAL}
