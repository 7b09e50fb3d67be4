# attack: Ends the process in the finalizer of an object.
# exercise: 02, reason: crash
import numpy as np
import os


class Last:
    def __del__(self):
        os._exit(0)


last = Last()
del last


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
