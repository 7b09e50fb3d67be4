"""What people get wrong about doubling."""
from attngrade.misconceptions import misconception


@misconception("same-again", of="double")
def same(x):
    """Your function gives its input back.

    Example: 2 gives 2, where 4 is right.
    Why: twice is not once.
    Look at: the sum.
    """
    return 1 * x
