# attack: Gives its own module a class that answers nothing.
# exercise: 02, reason: load-error|crash|wrong-result
import numpy as np
import sys
import types


class Silent(types.ModuleType):
    @property
    def __dict__(self):
        raise SystemExit

    def __getattribute__(self, name):
        raise SystemExit


sys.modules[__name__].__class__ = Silent


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
