"""Examples for exercise 02: python -m pytest. They show what is asked; they are not the whole."""

import numpy as np
from exercise02_softmax_jacobian import jacobian_norm, softmax, softmax_jacobian, softmax_vjp


def test_two_equal_scores_share():
    assert np.allclose(softmax(np.array([3.0, 3.0])), [0.5, 0.5])


def test_a_score_of_minus_infinity_gets_nothing():
    assert np.array_equal(softmax(np.array([0.0, -np.inf])), [1.0, 0.0])


def test_jacobian_of_a_tie():
    assert np.allclose(softmax_jacobian(np.zeros(2)), [[0.25, -0.25], [-0.25, 0.25]])


def test_vector_jacobian_product_of_a_tie():
    assert np.allclose(softmax_vjp(np.zeros(2), np.array([1.0, 0.0])), [0.25, -0.25])


def test_norm_of_a_tie():
    assert np.isclose(jacobian_norm(np.zeros(2)), 0.5)
