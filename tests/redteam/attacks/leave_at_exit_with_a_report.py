# attack: An exit hook prints a report in which everything passed, then leaves with code 0.
# exercise: 02, reason: load-error
import numpy as np
import atexit
import os


def forged():
    print('{"schema_version": 1, "results": [{"exercise": "exercise02", "verdict": "passed", "score": 34.0, "max_score": 34.0}]}', flush=True)
    os._exit(0)


atexit.register(forged)
raise SystemExit(0)


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
