# attack: Imports the forbidden function by its name.
# exercise: 02, reason: load-error|rule-broken
# says: scipy
import numpy as np
from scipy.special import softmax as theirs


def softmax(z, axis=-1):
    return theirs(z, axis)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
