# attack: Fills every folder it can write to.
# exercise: 02, reason: wrong-result|memory|load-error|timeout, timeout: 30
import numpy as np
import os

held = []
for folder in ("/tmp", "/dev/shm", os.getcwd()):
    for number in range(40):
        try:
            file = open(f"{folder}/fill{number}", "wb")
            held.append(file)
            for _ in range(64):
                file.write(b"z" * (1 << 20))
        except OSError:
            break


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
