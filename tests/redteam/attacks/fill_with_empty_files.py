# attack: Makes hundreds of thousands of empty files.
# exercise: 02, reason: wrong-result|memory|timeout, timeout: 30
import numpy as np
import os

try:
    for number in range(200_000):
        os.close(os.open(f"empty{number}", os.O_CREAT | os.O_WRONLY))
except OSError:
    pass


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
