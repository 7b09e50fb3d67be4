import math

import numpy as np


def _rows(z):
    z = np.asarray(z)
    if z.ndim == 0:
        raise ValueError("z must be an array of rank 1 or more")
    wide = np.float32 if z.dtype == np.float16 else z.dtype
    return np.array(z, dtype=wide).reshape(-1, z.shape[-1])


def _softmax_row(row):
    top = max(row)
    with np.errstate(all="ignore"):
        weights = np.exp(row - top)
    return weights / weights.sum()


def softmax(z, axis=-1):
    if np.size(z) == 0:
        raise ValueError("softmax: z is empty")
    z = np.asarray(z)
    if z.ndim == 0:
        raise ValueError("z must be an array of rank 1 or more")
    if axis >= z.ndim or axis < -z.ndim:
        raise ValueError("axis does not exist")
    wide = np.float32 if z.dtype == np.float16 else z.dtype
    return np.apply_along_axis(_softmax_row, axis, z.astype(wide)).astype(z.dtype)


def softmax_jacobian(z):
    if np.size(z) == 0:
        raise ValueError("softmax_jacobian: z is empty")
    rows = _rows(z)
    n = rows.shape[1]
    out = np.zeros((rows.shape[0], n, n), dtype=rows.dtype)
    for r, row in enumerate(rows):
        p = _softmax_row(row)
        for i in range(n):
            for j in range(n):
                out[r, i, j] = p[i] * ((i == j) - p[j])
    return out.reshape(*np.shape(z), n).astype(np.asarray(z).dtype)


def softmax_vjp(z, grad):
    if np.size(z) == 0:
        raise ValueError("softmax_vjp: z is empty")
    if np.shape(z) != np.shape(grad):
        raise ValueError("z and grad must have the same shape")
    out = []
    for row, g in zip(_rows(z), _rows(grad)):
        p = _softmax_row(row)
        average = np.dot(p, g)
        out.append(p * (g - average))
    return np.array(out).reshape(np.shape(z)).astype(np.asarray(z).dtype)


def jacobian_norm(z):
    if np.size(z) == 0:
        raise ValueError("jacobian_norm: z is empty")
    norms = []
    for row in _rows(z).astype(np.float64):
        top = int(np.argmax(row))
        with np.errstate(all="ignore"):
            e = np.exp(np.delete(row, top) - row[top])
        total = math.fsum(e)
        if total == 0.0:
            norms.append(0.0)
            continue
        p_top, rest = 1.0 / (1.0 + total), total / (1.0 + total)
        share = e / total
        square = float(share @ share)
        value = p_top * p_top * (1.0 + square)
        value += float(np.sum(share**2 * ((1.0 - rest * share) ** 2 + p_top**2 + rest**2 * (square - share**2))))
        norms.append(rest * math.sqrt(value))
    return np.array(norms).reshape(np.shape(z)[:-1]).astype(np.asarray(z).dtype)
