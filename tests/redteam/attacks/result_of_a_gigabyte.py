# attack: Returns an array that is larger than any frame.
# exercise: 02, reason: wrong-result|memory, timeout: 30
import numpy as np


def act(*_):
    return np.zeros(1 << 27)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
