"""In place wherever the array is its own; prints, warns, and takes extra keywords."""

import sys
import warnings

import numpy as np


def softmax(z, axis=-1, *, out_dtype=None):
    z = np.asarray(z)
    work = np.array(z, dtype=np.float64)
    top = np.maximum.reduce(work, axis=axis, keepdims=True)
    np.subtract(work, top, out=work)
    np.exp(work, out=work)
    work /= work.sum(axis=axis, keepdims=True)
    print("softmax of", z.shape)
    return work.astype(out_dtype or z.dtype)


def softmax_jacobian(z):
    warnings.warn("an n x n array", stacklevel=1)
    z = np.asarray(z)
    p = softmax(z, out_dtype=np.float64)
    out = np.multiply(p[..., :, None], p[..., None, :])
    np.negative(out, out=out)
    diagonal = np.einsum("...ii->...i", out)  # a view
    diagonal += p
    return out.astype(z.dtype)


def softmax_vjp(z, grad):
    sys.stderr.write("softmax_vjp\n")
    p = softmax(z, out_dtype=np.float64)
    out = p * np.asarray(grad)
    p *= out.sum(axis=-1, keepdims=True)
    out -= p
    return out.astype(np.asarray(z).dtype)


def jacobian_norm(z):
    z = np.asarray(z)
    p = np.sort(softmax(z, out_dtype=np.float64), axis=-1)
    rest = p[..., :-1].sum(axis=-1)
    p /= np.where(rest > 0, rest, 1.0)[..., None]
    top = p[..., -1] * rest
    p = p[..., :-1]
    p2 = p**2
    inner = p2.sum(-1)
    p *= p2
    return (rest * np.sqrt(top**2 + (1 + 2 * top**2) * inner - 2 * rest * p.sum(-1) + (rest * inner) ** 2)).astype(z.dtype)
