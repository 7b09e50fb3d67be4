# attack: Ends the process hard, exit code 0, while the file is loaded, so that no report is written.
# exercise: 02, reason: crash
# says: ended its process
import numpy as np
import os
os._exit(0)


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
