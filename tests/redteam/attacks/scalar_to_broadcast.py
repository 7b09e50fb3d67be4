# attack: One number in place of an array, for a comparison that broadcasts.
# exercise: 02, reason: wrong-result
import numpy as np


def act(z, *_):
    return np.float64(0.0)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
