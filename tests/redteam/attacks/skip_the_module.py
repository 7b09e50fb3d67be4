# attack: Asks the test framework to skip the whole module.
# exercise: 02, reason: load-error
import numpy as np
import pytest

pytest.skip("not today", allow_module_level=True)


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
