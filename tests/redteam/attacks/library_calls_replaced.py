# attack: Replaces the calls with which the worker reads and writes.
# exercise: 02, reason: crash|timeout, timeout: 2
import numpy as np
import os

os.read = lambda *_: b""
os.writev = lambda fd, pieces: sum(len(piece) for piece in pieces)


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
