# attack: Takes for ever while the file is loaded.
# exercise: 02, reason: timeout, timeout: 1
# says: time limit
import numpy as np
while True:
    pass


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
