"""Sigmoids of differences for the weights of two, general rows by sorted cumulative sums; NumPy scalars out."""

import numpy as np


def _dtype(z):
    return np.asarray(z).dtype


def _wide(z):
    z = np.asarray(z)
    return z if z.dtype.itemsize >= 4 else np.float32(z)


def softmax(z, axis=-1):
    wide = _wide(z)
    top = np.take_along_axis(wide, np.argmax(wide, axis=axis, keepdims=True), axis=axis)
    weights = np.exp(wide - top)
    norm = np.reciprocal(weights.sum(axis=axis))
    return (weights * np.expand_dims(norm, axis)).astype(_dtype(z))


def softmax_jacobian(z):
    p = softmax(_wide(z))
    diagonal = np.zeros((*p.shape, p.shape[-1]), dtype=p.dtype)
    np.einsum("...ii->...i", diagonal)[...] = p
    return np.subtract(diagonal, p[..., :, np.newaxis] @ p[..., np.newaxis, :]).astype(_dtype(z))


def softmax_vjp(z, grad):
    p = softmax(_wide(z))
    g = _wide(grad)
    centred = g - np.average(g, axis=-1, weights=p)[..., np.newaxis] if g.ndim == 1 else g - np.sum(g * p, -1)[..., np.newaxis]
    return np.asarray(centred * p, dtype=_dtype(z))


def jacobian_norm(z):
    p = np.float64(softmax(np.float64(z)))
    q = p / p.max(axis=-1, keepdims=True)
    s2, s3, s1 = (q**2).sum(-1), (q**3).sum(-1), q.sum(-1)
    value = np.sqrt(np.fmax(s2 / s1**2 - 2 * s3 / s1**3 + (s2 / s1**2) ** 2, 0.0))
    return _dtype(z).type(value) if value.ndim == 0 else value.astype(_dtype(z))
