"""Exercise 01, claim by claim."""

import numpy as np
from attngrade.checks.claims import claim, expect, of, points, refuses


@points(2)
@of("softcap")
def test_follows_the_formula(submission, rng):
    """Scores follow cap * tanh(x / cap), in any shape."""
    for shape, cap in [((3,), 2.0), ((2, 5), 30.0), ((1, 4, 3), 0.5)]:
        x = 3 * rng.standard_normal(shape)
        expect(submission.softcap(x, cap), cap * np.tanh(x / cap), dtype="float64", case=f"shape {shape}, cap={cap}")


@points(2)
@of("softcap")
def test_never_leaves_the_cap(submission):
    """However large a score is, its size stays at or below the cap."""
    got = submission.softcap(np.array([-1e6, -50.0, 50.0, 1e6]), 5.0)
    claim(np.all(np.abs(got.array) <= 5.0), "a score came out above the cap", got=got, case="scores up to 1e6, cap=5")


@points(1)
@of("softcap")
def test_a_cap_that_is_not_positive_is_refused(submission):
    """A cap of zero or below is a ValueError that names it."""
    for cap in (0.0, -1.0):
        refuses(lambda cap=cap: submission.softcap(np.ones(2), cap), ("cap",), case=f"cap={cap}")
