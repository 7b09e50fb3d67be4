# mistake: jacobian_norm counts the entries on the diagonal alone, sqrt(sum of p_i**2 (1 - p_i)**2), and softmax_vjp subtracts the shared sum without multiplying it by p.
# names: vjp-shared-term-without-p
"""Works row by row through generators; every row is a flat vector."""

from itertools import starmap

import numpy as np


def _array(value, name):
    array = np.asanyarray(value)
    if array.ndim < 1:
        raise ValueError(f"{name} should have one axis or more")
    return array


def _wide(array):
    return array.astype(np.float32) if array.dtype.itemsize < 4 else array


def _weights(v):
    d = v - np.max(v)
    w = np.zeros_like(d)
    seen = d > -800
    w[seen] = np.exp(d[seen])
    return w / np.sum(w)


def _per_row(function, shape_of_one, z, *more):
    """Call function on each row of z (and of the others) and put the answers together again."""
    rows = [_wide(a).reshape(-1, a.shape[-1]) for a in (z, *more)]
    answers = list(starmap(function, zip(*rows)))
    return np.array(answers).reshape(z.shape[:-1] + shape_of_one).astype(z.dtype)


def softmax(z, axis=-1):
    if np.size(z) == 0:
        raise ValueError("softmax: z is empty")
    z = _array(z, "z")
    if not -z.ndim <= axis <= z.ndim - 1:
        raise ValueError(f"axis should be an axis of z, {axis} isn't")
    last = np.moveaxis(z, axis, -1)
    return np.moveaxis(_per_row(_weights, last.shape[-1:], last), -1, axis)


def softmax_jacobian(z):
    if np.size(z) == 0:
        raise ValueError("softmax_jacobian: z is empty")
    z = _array(z, "z")

    def one(v):
        p = _weights(v)
        return np.diagflat(p) - np.outer(p, p)

    return _per_row(one, (z.shape[-1],) * 2, z)


def softmax_vjp(z, grad):
    if np.size(z) == 0:
        raise ValueError("softmax_vjp: z is empty")
    z, grad = _array(z, "z"), _array(grad, "grad")
    if grad.shape != z.shape:
        raise ValueError(f"grad should have the shape {z.shape} of z, not {grad.shape}")

    def one(v, g):
        p = _weights(v)
        return p * g - np.vdot(p, g)

    return _per_row(one, z.shape[-1:], z, grad)


def jacobian_norm(z):
    if np.size(z) == 0:
        raise ValueError("jacobian_norm: z is empty")
    z = _array(z, "z")

    def one(v):
        v = v.astype(np.float64)
        top = np.argmax(v)
        others = np.concatenate([v[:top], v[top + 1 :]]) - v[top]
        if others.size == 0:
            return 0.0
        shift = others.max()
        e = np.exp(others - shift)
        share = e / e.sum()
        odds = e.sum() * np.exp(shift)
        p, rest = 1 / (1 + odds), odds / (1 + odds)
        s2, s3 = np.vdot(share, share), np.sum(share**3)
        return rest * np.sqrt(p * p + np.sum((share * (1 - rest * share)) ** 2))

    with np.errstate(under="ignore", over="ignore"):
        return _per_row(one, (), z)
