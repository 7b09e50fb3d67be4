"""Everything in float64, einsum and an identity matrix; the norm in its plain required form (no stretch)."""

import numpy as np


def softmax(z, axis=-1):
    z = np.asarray(z)
    x = z.astype(np.float64)
    x = x - np.amax(x, axis=axis, keepdims=True)
    e = np.exp(x)
    return (e / np.sum(e, axis=axis, keepdims=True)).astype(z.dtype)


def softmax_jacobian(z):
    p = softmax(np.asarray(z, dtype=np.float64))
    n = p.shape[-1]
    j = np.einsum("...i,ij->...ij", p, np.eye(n)) - np.einsum("...i,...j->...ij", p, p)
    return j.astype(np.asarray(z).dtype)


def softmax_vjp(z, grad):
    p = softmax(np.asarray(z, dtype=np.float64))
    g = np.asarray(grad, dtype=np.float64)
    inner = np.einsum("...i,...i->...", p, g)
    return (p * g - p * inner[..., np.newaxis]).astype(np.asarray(z).dtype)


def jacobian_norm(z):
    p = softmax(np.asarray(z, dtype=np.float64))
    s2 = np.einsum("...i,...i->...", p, p)
    s3 = np.einsum("...i,...i,...i->...", p, p, p)
    squared = s2 - 2 * s3 + s2 * s2
    return np.sqrt(np.maximum(squared, 0)).astype(np.asarray(z).dtype)
