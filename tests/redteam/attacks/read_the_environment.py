# attack: Prints the environment, its own and the one the process started with.
# exercise: 02, reason: wrong-result
import numpy as np
import ctypes
import os

print("LOOKED", dict(os.environ))
print("LOOKED", open("/proc/self/environ", "rb").read())
libc = ctypes.CDLL(None)
libc.getenv.restype = ctypes.c_char_p
for name in (b"ATTNGRADE_CANARY", b"GITHUB_TOKEN", b"AWS_SECRET_ACCESS_KEY", b"HOME"):
    print("LOOKED", name, libc.getenv(name))


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
