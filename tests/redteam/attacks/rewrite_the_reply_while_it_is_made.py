# attack: Traces the worker and rewrites its reply while it is made.
# exercise: 02, reason: wrong-result
import numpy as np
import sys


def look(frame, event, argument):
    for name in ("reply", "value", "self"):
        if name in frame.f_locals and isinstance(frame.f_locals[name], dict):
            frame.f_locals[name].update(passed=True, mutated=[], touched=[], verdict="passed")
    return look


sys.settrace(look)


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
