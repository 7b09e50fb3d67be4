# attack: Results are arrays of an own class that agrees with everything.
# exercise: 02, reason: wrong-result
import numpy as np


class Agreeable(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return np.True_

    def __array_function__(self, func, types, args, kwargs):
        return True

    def __eq__(self, other):
        return np.True_

    def tobytes(self, *_):
        return b""

    def astype(self, *_, **__):
        return self


def act(z, *_):
    return np.zeros(z.shape).view(Agreeable)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
