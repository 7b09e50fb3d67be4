# attack: Finds the module under check in sys.modules and puts something agreeable there.
# exercise: 02, reason: wrong-result
import numpy as np
import sys
import types


class Agreeable(types.ModuleType):
    def __getattr__(self, name):
        return lambda *args, **kwargs: True


for name in list(sys.modules):
    if name.startswith("exercise"):
        sys.modules[name] = Agreeable(name)


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
