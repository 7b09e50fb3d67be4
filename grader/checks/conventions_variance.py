"""How exercise 01 reads in other conventions."""

from attngrade.checks.conventions import RESULT, negative, reads


@reads("difference-sign", of="variance_z_score")
def below_instead_of_above(given):
    return {RESULT: negative}
