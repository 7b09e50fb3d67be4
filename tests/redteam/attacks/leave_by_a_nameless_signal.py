# attack: Ends itself by a signal that has a number and no name, which the grader wants to tell.
# exercise: 02, reason: crash
# says: ended
import os
import numpy as np


def go():
    os.kill(os.getpid(), 35)


def softmax(z, axis=-1):
    go()
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
