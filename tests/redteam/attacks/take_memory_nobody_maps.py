# attack: Takes memory in files without a name and in kernel objects.
# exercise: 02, reason: wrong-result
import numpy as np
import ctypes
import os

libc = ctypes.CDLL(None)
held = 0
for number in range(200):
    try:
        fd = os.memfd_create(f"held{number}")
        held += os.write(fd, b"m" * (16 << 20))
    except OSError:
        break
for number in range(64):
    if libc.shmget(number + 1, ctypes.c_size_t(64 << 20), 0o1600) >= 0:
        held += 1
if held:
    print("SEEN held", held)


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
