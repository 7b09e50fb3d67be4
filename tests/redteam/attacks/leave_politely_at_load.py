# attack: Ends the process politely, exit code 0, while the file is loaded.
# exercise: 02, reason: load-error
# says: SystemExit
import numpy as np
import sys
sys.exit(0)


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
