# attack: The result computes an answer only when somebody looks at it.
# exercise: 02, reason: wrong-result
# says: Lazy
import numpy as np


class Lazy:
    def __init__(self, z):
        self.z = z

    def __array__(self, *_, **__):
        e = np.exp(self.z - self.z.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def __getattr__(self, name):
        return getattr(self.__array__(), name)


def act(z, *_):
    return Lazy(z)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
