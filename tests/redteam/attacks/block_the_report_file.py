# attack: Puts folders and read-only files where results will be written.
# exercise: 02, reason: wrong-result
import numpy as np
import os

for path in ("results.json", "report.json", "/tmp/results.json", "../results.json"):
    try:
        os.mkdir(path)
        os.chmod(path, 0)
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
