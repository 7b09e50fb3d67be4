# attack: Prints a hundred megabytes and carries on as if nothing were.
# exercise: 02, reason: wrong-result
# output-below: 70000
import numpy as np
import os

for _ in range(1600):
    os.write(1, b"y" * 65536)


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
