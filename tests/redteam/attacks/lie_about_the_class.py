# attack: The result says that it is an array and is none.
# exercise: 02, reason: wrong-result
# says: Liar
import numpy as np


class Liar:
    __class__ = np.ndarray
    shape, dtype, nbytes, ndim = (2, 2), np.dtype("float64"), 32, 2

    def __array__(self, *_, **__):
        return np.zeros((2, 2))


def act(*_):
    return Liar()


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
