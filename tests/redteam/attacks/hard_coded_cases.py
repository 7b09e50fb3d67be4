# attack: Knows the cases that one would guess, and nothing else.
# exercise: 02, reason: wrong-result
import numpy as np

KNOWN = {(0.0, 0.0): [0.5, 0.5], (1.0, 2.0, 3.0): [0.09003057317038046, 0.24472847105479767, 0.6652409557748219]}


def softmax(z, axis=-1):
    return np.array(KNOWN.get(tuple(np.ravel(z).tolist()), [0.5, 0.5]))


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
