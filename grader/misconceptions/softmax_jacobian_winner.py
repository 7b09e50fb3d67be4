"""What people get wrong in exercise 02 about the norm without cancellation: the winner taken out, the others among themselves."""

import numpy as np
from attngrade.misconceptions import misconception
from attngrade.solutions.exercise02_softmax_jacobian import narrow, widen

__all__: list[str] = []  # filled by `wrong_split`: every misconception below


def wrong_split(name, **options):
    """A misconception of jacobian_norm, exported."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="jacobian_norm", **options)(code)

    return mark


def split(z):
    """The winner's weight, the weight of all others, and the sums of squares and cubes of the others' shares in it."""
    x = np.sort(widen(z), axis=-1)
    others = np.exp(x[..., :-1] - x[..., -1:])
    rest = others.sum(axis=-1)
    share = others / np.where(rest > 0, rest, 1.0)[..., None]
    return 1 / (1 + rest), rest / (1 + rest), (share**2).sum(axis=-1), (share**3).sum(axis=-1)


def inside(r, two, three):
    """The others' own block: the squared norm of diag(share) - r share share^T."""
    return two - 2 * r * three + (r * two) ** 2


def root(squared):
    return np.sqrt(np.maximum(squared, 0))


@wrong_split("norm-border-counted-once")
def border_once(z):
    """You count the entries between the winner and each other score once; J has them in the winner's row and in its column.

    Example: z=[0, 0]: you give 0.433, right is 0.5.
    Why: J is symmetric: (p_top p_j)**2 comes twice in the sum of squares.
    Look at: the factor 2 before the border.
    """
    a, r, two, three = split(z)
    return narrow(r * root(a**2 * (1 + two) + inside(r, two, three)), z)


@wrong_split("norm-border-missing")
def border_missing(z):
    """You leave out the entries between the winner and each other score, -p_top p_j, which stand in J twice.

    Example: z=[0, 0]: you give 0.354, right is 0.5.
    Why: the sum of squares has a corner (the winner with itself), a border (twice) and the others' own block.
    Look at: 2 p_top**2 times the sum of the others' squares.
    """
    a, r, two, three = split(z)
    return narrow(r * root(a**2 + inside(r, two, three)), z)


@wrong_split("norm-corner-missing")
def corner_missing(z):
    """You leave out the winner's own entry, p_top (1 - p_top), on the diagonal.

    Example: z=[0, 0]: you give 0.433, right is 0.5.
    Why: the sum of squares has a corner (the winner with itself), a border (twice) and the others' own block.
    Look at: (p_top * rest)**2, with the sum of the others for 1 - p_top.
    """
    a, r, two, three = split(z)
    return narrow(r * root(2 * a**2 * two + inside(r, two, three)), z)


@wrong_split("norm-winner-left-out")
def winner_left_out(z):
    """You take the winner out and don't bring it back: only the block of the other scores is in your norm.

    Example: z=[0, 0]: you give 0.25, right is 0.5.
    Why: the winner's row and column belong to J.
    Look at: the corner (p_top * rest)**2 and the border 2 p_top**2 * sum(p_j**2).
    """
    _, r, two, three = split(z)
    return narrow(r * root(inside(r, two, three)), z)


@wrong_split("norm-others-left-out")
def others_left_out(z):
    """Your norm has the winner's row and column alone; the block of the other scores among themselves is missing.

    Example: z=[0, 0]: you give 0.433, right is 0.5.
    Why: the others have entries of their own, p_i (1[i = j] - p_j).
    Look at: the sum over i and j that are both not the winner.
    """
    a, r, two, _ = split(z)
    return narrow(r * root(a**2 * (1 + 2 * two)), z)


@wrong_split("norm-factor-of-the-rest-missing")
def rest_missing(z):
    """You took the others' total out of the root and didn't multiply by it again.

    Example: z=[0, 0]: you give 1, right is 0.5.
    Why: with shares p_j / rest every squared entry has rest**2 in front, and the root of that is rest.
    Look at: the return line.
    """
    a, r, two, three = split(z)
    return narrow(root(a**2 * (1 + 2 * two) + inside(r, two, three)), z)


@wrong_split("norm-factor-of-the-rest-under-the-root")
def rest_under_the_root(z):
    """The others' total stands under the root unsquared: outside it is `rest`, inside it would be `rest**2`.

    Example: z=[0, 0]: you give 0.707, right is 0.5.
    Why: sqrt(rest**2 * x) = rest * sqrt(x).
    Look at: where the root begins.
    """
    a, r, two, three = split(z)
    return narrow(root(r * (a**2 * (1 + 2 * two) + inside(r, two, three))), z)


@wrong_split("norm-factor-of-the-rest-squared")
def rest_squared(z):
    """You multiply the root by the square of the others' total; in front of the root it is the total itself.

    Example: z=[0, 0]: you give 0.25, right is 0.5.
    Why: sqrt(rest**2 * x) = rest * sqrt(x).
    Look at: the factor before the root.
    """
    a, r, two, three = split(z)
    return narrow(r**2 * root(a**2 * (1 + 2 * two) + inside(r, two, three)), z)


@wrong_split("norm-unnormalised-rest")
def rest_unnormalised(z):
    """Your factor is the sum of the others' exponentials; their weight is that sum over the sum of all, rest / (1 + rest).

    Example: z=[0, 0]: you give 1, right is 0.5; for a saturated row both are nearly the same.
    Why: the winner's exponential, 1 after the shift, is part of the normaliser.
    Look at: `rest / (1 + rest)`.
    """
    a, r, two, three = split(z)
    return narrow(r / np.where(a > 0, a, 1.0) * root(a**2 * (1 + 2 * two) + inside(r, two, three)), z)


@wrong_split("norm-winner-not-squared")
def winner_not_squared(z):
    """The winner's weight stands in corner and border unsquared.

    Example: z=[0, 0]: you give 0.661, right is 0.5.
    Why: the entries are p_top * rest and -p_top p_j, and each is squared whole.
    Look at: `p_top**2`.
    """
    a, r, two, three = split(z)
    return narrow(r * root(a * (1 + 2 * two) + inside(r, two, three)), z)


@wrong_split("norm-shares-crossed-without-the-rest")
def crossed_without_rest(z):
    """In the others' block your cross term is -2 * sum(share**3); the weights are rest * share, so one factor rest stays with it.

    Example: z=[0, 0]: you give 0, right is 0.5.
    Why: p_i - p_i**2 is rest * (share - rest * share**2).
    Look at: -2 * rest * sum(share**3).
    """
    a, r, two, three = split(z)
    return narrow(r * root(a**2 * (1 + 2 * two) + two - 2 * three + (r * two) ** 2), z)


@wrong_split("norm-shares-squared-without-the-rest")
def squared_without_rest(z):
    """In the others' block your last term is sum(share**2)**2; the weights are rest * share, so rest**2 stays with it.

    Example: z=[0, 0]: you give 0.661, right is 0.5.
    Why: p_i p_j is rest**2 share_i share_j, and only one rest was taken out of the root.
    Look at: (rest * sum(share**2))**2.
    """
    a, r, two, three = split(z)
    return narrow(r * root(a**2 * (1 + 2 * two) + two - 2 * r * three + two**2), z)


@wrong_split("norm-others-as-a-softmax-of-their-own")
def others_alone(z):
    """In the others' block you use their shares as if they were the weights of a softmax of their own, without the factor rest.

    Example: z=[0, 0]: you give 0.433, right is 0.5.
    Why: their weights are rest * share, so the block is rest * (diag(share) - rest * share share^T).
    Look at: every place where share stands for p.
    """
    a, r, two, three = split(z)
    return narrow(r * root(a**2 * (1 + 2 * two) + inside(1.0, two, three)), z)


@wrong_split("norm-every-winner-taken-out")
def ties_taken_out(z):
    """You take out every score that equals the maximum; with a tie only one of them is the winner, the other is one of the rest.

    Example: z=[0, 0]: you give 0, right is 0.5.
    Why: two equal scores share the weight and have a Jacobian between them.
    Look at: `z == z.max()`; `argmax` names one place.
    """
    x = widen(z)
    top = x.max(axis=-1, keepdims=True)
    others = np.where(x == top, 0.0, np.exp(x - top)).astype(x.dtype)
    rest = others.sum(axis=-1)
    share = others / np.where(rest > 0, rest, 1.0)[..., None]
    a, r, two, three = 1 / (1 + rest), rest / (1 + rest), (share**2).sum(axis=-1), (share**3).sum(axis=-1)
    return narrow(r * root(a**2 * (1 + 2 * two) + inside(r, two, three)), z)


@wrong_split("norm-single-score-is-nan")
def single_score(z):
    """For a single score there are no others, and your shares are 0 / 0; the norm is 0.

    Example: z=[2] gives NaN, right is 0: the only weight is always 1.
    Why: the sum of no other scores is 0, and so is their part of the norm.
    Look at: the division by the others' sum; `np.where(rest > 0, rest, 1)`.
    """
    a, r, two, three = split(z)
    lonely = r == 0
    return narrow(np.where(lonely, np.nan, r * root(a**2 * (1 + 2 * two) + inside(r, two, three))), z)


@wrong_split("norm-single-score-fails")
def single_score_fails(z):
    """For a single score your function raises: there is nothing left once the winner is taken out.

    Example: z=[2] must give 0: the only weight is always 1.
    Why: the maximum of no scores isn't defined, their sum is 0.
    Look at: `max`, `[-2]` or `partition` on the others.
    """
    if np.shape(z)[-1] < 2:
        raise IndexError("no other score")
    a, r, two, three = split(z)
    return narrow(r * root(a**2 * (1 + 2 * two) + inside(r, two, three)), z)


@wrong_split("norm-single-score-keeps-its-axis")
def single_score_keeps_its_axis(z):
    """For a single score your zeros have the shape of z; the norm has one axis less, whatever n is.

    Example: z of shape (4, 1) gives (4, 1), right is (4,); z=[2] gives [0], right is 0.
    Why: a row has one norm, a row of one score too.
    Look at: the special case for n = 1: `np.zeros(z.shape[:-1])`, or no special case at all.
    """
    a, r, two, three = split(z)
    return narrow(np.zeros(np.shape(z)) if np.shape(z)[-1] == 1 else r * root(a**2 * (1 + 2 * two) + inside(r, two, three)), z)


@wrong_split("norm-single-score-forgets-the-batch")
def single_score_forgets_the_batch(z):
    """For rows of a single score you return one 0 for all of them; every row has its own.

    Example: z of shape (4, 1) gives 0, right is [0, 0, 0, 0].
    Why: the result has the leading axes of z, whatever n is.
    Look at: the special case for n = 1: `np.zeros(z.shape[:-1])`, or no special case at all.
    """
    a, r, two, three = split(z)
    return narrow(np.float64(0) if np.shape(z)[-1] == 1 else r * root(a**2 * (1 + 2 * two) + inside(r, two, three)), z)
