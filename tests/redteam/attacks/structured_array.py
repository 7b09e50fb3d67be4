# attack: Results of a dtype that has no place on the wire.
# exercise: 02, reason: wrong-result
import numpy as np


def act(z, *_):
    return np.zeros(z.shape, dtype=[("value", "f8"), ("passed", "?")])


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
