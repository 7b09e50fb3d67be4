# attack: Starts many more threads than cores, all of them busy.
# exercise: 02, reason: wrong-result|timeout, timeout: 2
import numpy as np
import threading


def spin():
    while True:
        pass


for _ in range(64):
    threading.Thread(target=spin, daemon=True).start()


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
