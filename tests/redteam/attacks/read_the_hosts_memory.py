# attack: Opens the memory of its parent and of process 1, and asks the kernel to copy it.
# exercise: 02, reason: wrong-result
import numpy as np
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
for pid in (1, os.getppid(), *range(2, 400)):
    if pid == os.getpid():
        continue
    try:
        with open(f"/proc/{pid}/mem", "rb") as file:
            print("SEEN", file.read(1))
    except OSError:
        pass
    for call in (101, 310, 312):
        if libc.syscall(call, 16, pid, 0, 0, 0, 0) == 0:
            print("SEEN by call", call, pid)


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
