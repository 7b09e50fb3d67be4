# attack: Results are arrays of objects with overridden arithmetic.
# exercise: 02, reason: wrong-result
import numpy as np


class Agreeable:
    def __sub__(self, other):
        return 0.0

    __rsub__ = __sub__


def act(z, *_):
    return np.array([[Agreeable()] * 2] * 2, dtype=object)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
