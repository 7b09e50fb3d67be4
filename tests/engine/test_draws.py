"""Claims about random draws: right recipes hold, and look-alikes of the right variance don't."""

import math

import numpy as np
import pytest
from attngrade.checks.claims import Claim
from attngrade.checks.draws import claim_law, claim_no_grid

RNG = np.random.default_rng(20261130)
SIDE = 45
RIGHT = {
    "products": lambda n, d_k: (RNG.standard_normal((n, d_k)) * RNG.standard_normal((n, d_k))).sum(axis=1),
    "half a difference of squares": lambda n, d_k: np.subtract(*RNG.chisquare(d_k, (2, n))) / 2,
    "a length times a normal number": lambda n, d_k: np.sqrt(RNG.chisquare(d_k, n)) * RNG.standard_normal(n),
}


def all_pairs(n, d_k):
    side = math.isqrt(n - 1) + 1
    return (RNG.standard_normal((side, d_k)) @ RNG.standard_normal((d_k, side))).reshape(-1)[:n]


@pytest.mark.parametrize("recipe", RIGHT)
@pytest.mark.parametrize("d_k", range(3, 9))
def test_every_right_recipe_has_the_law(recipe, d_k):
    claim_law(RIGHT[recipe](24_000, d_k), d_k, "")


@pytest.mark.parametrize("d_k", range(3, 9))
def test_normal_numbers_of_the_right_variance_do_not(d_k):
    with pytest.raises(Claim, match="The variance alone"):
        claim_law(math.sqrt(d_k) * RNG.standard_normal(24_000), d_k, "")


@pytest.mark.parametrize("d_k", [3, 8, 17, 60])
def test_nor_do_uniform_ones_in_heads_of_any_width(d_k):
    with pytest.raises(Claim, match="The variance alone"):
        claim_law(math.sqrt(12 * d_k) * (RNG.random(2_000) - 0.5), d_k, "")


@pytest.mark.parametrize("d_k", [6, 12, 40])
def test_all_pairs_of_a_few_queries_and_keys_are_no_independent_draws(d_k):
    with pytest.raises(Claim, match="each with the same 45 keys"):
        claim_no_grid(all_pairs(SIDE**2, d_k), d_k, "")


@pytest.mark.parametrize("recipe", RIGHT)
@pytest.mark.parametrize("d_k", [6, 12, 40])
def test_independent_draws_make_no_such_table(recipe, d_k):
    claim_no_grid(RIGHT[recipe](SIDE**2, d_k), d_k, "")


def test_scores_of_nothing_but_zeros_are_no_independent_draws_either():
    with pytest.raises(Claim):
        claim_no_grid(np.zeros(SIDE**2), 7, "")
