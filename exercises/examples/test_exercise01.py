"""Examples for exercise 01: python -m pytest. They show what is asked; they are not the whole."""

import numpy as np
import pytest
from exercise01_variance import sample_scores, score_moments, unit_rms_scale, variance_z_score


def test_moments_of_one_product_of_standard_components():
    mean, variance = score_moments(1)

    assert (mean, variance) == (0, 1)


def test_moments_with_means():
    assert score_moments(2, mean_q=1.0, mean_k=3.0) == pytest.approx((6.0, 22.0))


def test_scores_are_n_numbers():
    assert np.asarray(sample_scores(np.random.default_rng(1), 5, 3)).shape == (5,)


def test_two_scores_around_their_mean_have_no_standard_error():
    assert variance_z_score(np.array([-1.0, 1.0]), 1.0) == np.inf


def test_scale_without_correlation():
    assert unit_rms_scale(4) == pytest.approx(0.5)


def test_a_head_without_components_is_refused():
    with pytest.raises(ValueError, match="d_k"):
        score_moments(0)
