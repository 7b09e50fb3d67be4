# attack: Returns fifty megabytes for each question, so that the host keeps them all.
# exercise: 02, reason: wrong-result, timeout: 60
import numpy as np


def act(*_):
    return np.zeros(1 << 20)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
