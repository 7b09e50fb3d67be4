"""Row i of J is what softmax_vjp makes of unit vector i; masked arrays keep -inf out of the arithmetic."""

import numpy as np


def softmax(z, axis=-1):
    z = np.asarray(z)
    wide = z.astype(np.promote_types(z.dtype, "f4"))
    seen = np.isfinite(wide)
    top = np.max(wide, axis=axis, keepdims=True, initial=-np.finfo(wide.dtype).max, where=seen)
    weights = np.exp(np.where(seen, wide - top, 0.0)) * seen
    return np.divide(weights, weights.sum(axis=axis, keepdims=True)).astype(z.dtype)


def softmax_vjp(z, grad):
    z = np.asarray(z)
    wide = np.promote_types(z.dtype, "f4")
    p, grad = softmax(z.astype(wide)), np.asarray(grad).astype(wide)
    if p.shape[-1] != grad.shape[-1]:
        raise ValueError("grad must have the last axis of z")
    weighted = p * grad
    return (weighted - p * weighted.sum(-1, keepdims=True)).astype(z.dtype)


def softmax_jacobian(z):
    z = np.asarray(z)
    n = z.shape[-1]
    rows = [softmax_vjp(z, np.broadcast_to(unit, z.shape)) for unit in np.eye(n, dtype=z.dtype)]
    return np.stack(rows, axis=-2)


def jacobian_norm(z):
    p = softmax(np.asarray(z, dtype=np.float64))
    top = p.max(-1)
    is_top = np.arange(p.shape[-1]) == p.argmax(-1)[..., None]
    others = np.where(is_top, 0.0, p)
    rest = others.sum(-1)
    share = np.divide(others, rest[..., None], out=np.zeros_like(others), where=rest[..., None] > 0)
    square = np.linalg.norm(share, axis=-1) ** 2
    inner = top**2 + (1 + 2 * top**2) * square - 2 * rest * np.sum(share**3, axis=-1) + (rest * square) ** 2
    return np.multiply(rest, np.sqrt(inner)).astype(np.asarray(z).dtype)
