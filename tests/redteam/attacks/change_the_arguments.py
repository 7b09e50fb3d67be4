# attack: Changes the arguments in place, so that a reference computed from the same memory comes out the same.
# exercise: 02, reason: wrong-result
import numpy as np


def act(z, *_):
    z[...] = 0
    return np.zeros_like(z)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
