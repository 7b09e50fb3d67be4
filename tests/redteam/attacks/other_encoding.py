# attack: Hides code behind a coding line that only one of two readers obeys. -*- coding: utf-7 -*-
# exercise: 02, reason: load-error
# says: UTF-8
import numpy as np
# +AAo-import os+AAo-os._exit(0)


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
