"""Plain loops over rows, math.fsum, Python floats; an array is filled at the end."""

import math

import numpy as np


def _row(row):
    top = max(row)
    weights = [math.exp(max(x - top, -1e4)) for x in row]
    total = math.fsum(weights)
    return [w / total for w in weights]


def _floats(z):
    return np.asarray(z).astype(np.float64)


def softmax(z, axis=-1):
    z = np.asarray(z)
    moved = np.moveaxis(_floats(z), axis, -1)
    out = np.empty(moved.shape)
    for place in np.ndindex(moved.shape[:-1]):
        out[place] = _row(moved[place].tolist())
    return np.ascontiguousarray(np.moveaxis(out, -1, axis)).astype(z.dtype)


def softmax_jacobian(z):
    z = np.asarray(z)
    n = z.shape[-1]
    out = np.zeros((*z.shape, n))
    for place in np.ndindex(z.shape[:-1]):
        p = _row(_floats(z[place]).tolist())
        for i in range(n):
            for j in range(n):
                out[(*place, i, j)] = p[i] * math.fsum(p[:i] + p[i + 1 :]) if i == j else -p[i] * p[j]
    return out.astype(z.dtype)


def softmax_vjp(z, grad):
    z, grad = np.asarray(z), np.asarray(grad)
    out = np.zeros(z.shape)
    for place in np.ndindex(z.shape[:-1]):
        p, g = _row(_floats(z[place]).tolist()), _floats(grad[place]).tolist()
        mean = math.fsum(a * b for a, b in zip(p, g, strict=True))
        out[place] = [a * (b - mean) for a, b in zip(p, g, strict=True)]
    return out.astype(z.dtype)


def jacobian_norm(z):
    z = np.asarray(z)
    out = np.zeros(z.shape[:-1])
    for place in np.ndindex(z.shape[:-1]):
        p = sorted(_row(_floats(z[place]).tolist()))
        top, rest = p[-1], math.fsum(p[:-1])
        if rest > 0:
            shares = [x / rest for x in p[:-1]]
            w2 = math.fsum(x * x for x in shares)
            others = math.fsum((x * (1 - rest * x)) ** 2 for x in shares)
            crossed = rest**2 * (w2**2 - math.fsum(x**4 for x in shares))
            out[place] = rest * math.sqrt(top**2 * (1 + 2 * w2) + others + crossed)
    return out.astype(z.dtype) if out.ndim else float(out)
