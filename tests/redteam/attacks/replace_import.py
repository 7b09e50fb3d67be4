# attack: Replaces the import function itself.
# exercise: 02, reason: wrong-result
import numpy as np
import builtins

real = builtins.__import__


def fake(name, *args, **kwargs):
    module = real(name, *args, **kwargs)
    print("imported", name)
    return module


builtins.__import__ = fake


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
