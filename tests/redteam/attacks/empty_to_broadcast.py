# attack: Empty arrays, of which every element is right.
# exercise: 02, reason: wrong-result
import numpy as np


def act(z, *_):
    return np.zeros((0, *z.shape[1:]))


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
