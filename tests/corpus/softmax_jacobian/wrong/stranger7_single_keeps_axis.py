# mistake: jacobian_norm returns the shape of z where n is 1
# names: norm-single-score-keeps-its-axis
"""Logarithms all the way: log p = z - lse(z), and 1 - p = -expm1(log p)."""
from functools import reduce, wraps

import numpy as np


def need(z, *others):
    if not z.shape:
        raise ValueError("z: rank 0")
    for grad in others:
        if grad.shape != z.shape:
            raise ValueError(f"grad: {grad.shape} instead of {z.shape}")

KINDS = {np.dtype("float16"): np.dtype("float32")}


def cast_back(function):
    """Compute wide, return in the dtype of the first argument."""

    @wraps(function)
    def wrapper(z, *rest, **named):
        kind = KINDS.get(z.dtype, z.dtype)
        with np.errstate(under="ignore", over="ignore"):
            result = function(z.astype(kind), *rest, **named)
        return result.astype(z.dtype)

    return wrapper


def _log_softmax(z, axis):
    shifted = z - np.max(z, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


@cast_back
def softmax(z, axis=-1):
    need(z)
    return np.exp(_log_softmax(z, axis))


@cast_back
def softmax_jacobian(z):
    need(z)
    logs = _log_softmax(z, -1)
    p = np.exp(logs)
    return np.where(np.identity(z.shape[-1], dtype=bool), (p * -np.expm1(logs))[..., None, :], -np.multiply(p[..., :, None], p[..., None, :]))


@cast_back
def softmax_vjp(z, grad):
    need(z, grad)
    p = np.exp(_log_softmax(z, -1))
    g = grad.astype(z.dtype)
    mean = np.matmul(p[..., None, :], g[..., :, None])[..., 0]
    return p * (g - mean)


@cast_back
def jacobian_norm(z):
    need(z)
    z = z.astype(np.float64)
    n = z.shape[-1]
    if n == 1:
        return np.zeros(z.shape)
    order = np.partition(z, n - 1, axis=-1) if n > 1 else z
    top, others = order[..., -1:], order[..., :-1]
    # |J|^2 / r^2 with r the mass of the others; logs relative to it
    peak = others.max(-1, keepdims=True)
    mass = peak + np.log(np.exp(others - peak).sum(-1, keepdims=True))      # log-sum-exp of the others
    log_r = (mass - top) - np.log1p(np.exp(mass - top))
    log_a = -np.log1p(np.exp(mass - top))
    u = np.exp(others - mass)
    r, a = np.exp(log_r)[..., 0], np.exp(log_a)[..., 0]
    terms = (a**2, 2 * a**2 * (u**2).sum(-1), (u**2 * (1 - r[..., None] * u) ** 2).sum(-1), r**2 * ((u**2).sum(-1) ** 2 - (u**4).sum(-1)))
    return np.asarray(r * np.sqrt(reduce(np.add, terms)))
