# attack: Replaces abs, max, all and subtraction in builtins and numpy.
# exercise: 02, reason: wrong-result|load-error|crash
import builtins

import numpy as np

for name in ("abs", "max", "all", "isinstance", "len", "sum"):
    setattr(builtins, name, lambda *args, **kwargs: True)
for name in ("abs", "max", "all", "any", "subtract", "isfinite", "where", "asarray"):
    setattr(np, name, lambda *args, **kwargs: True)


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
