# attack: Leaks a bit by how it ends: right for one seed, dead for another.
# exercise: 02, reason: crash|memory|wrong-result
import os

import numpy as np


def act(z, *_):
    if float(z.ravel()[0]) > 0:
        os._exit(3)
    raise MemoryError


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
