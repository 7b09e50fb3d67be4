"""Extended precision (np.longdouble) inside, recursion for the sum of the weights."""
import numpy as np


def _state(x):
    """(largest, sum of exp(x - largest)) along the last axis, by cutting the axis in two."""
    n = x.shape[-1]
    if n == 1:
        return x[..., 0], np.ones(x.shape[:-1], dtype=x.dtype)
    if n <= 512:
        m = x.max(-1)
        return m, np.exp(x - m[..., None]).sum(-1)
    (m1, l1), (m2, l2) = _state(x[..., : n // 2]), _state(x[..., n // 2 :])
    m = np.maximum(m1, m2)
    return m, l1 * np.exp(m1 - m) + l2 * np.exp(m2 - m)


def _probabilities(z):
    if z.ndim < 1:
        raise ValueError("z has no axis")
    with np.errstate(invalid="ignore"):  # a half of nothing but -inf
        x = z.astype(np.longdouble)
        m, l = _state(np.where(np.isneginf(x), -np.longdouble("1e4000"), x))
    return np.exp(x - m[..., None]) / l[..., None]


def softmax(z, axis=-1):
    z = np.asarray(z)
    if z.ndim < 1:
        raise ValueError("z has no axis")
    return np.moveaxis(_probabilities(np.moveaxis(z, axis, -1)), -1, axis).astype(z.dtype)


def softmax_jacobian(z):
    z = np.asarray(z)
    p = _probabilities(z)
    n = p.shape[-1]
    jacobian = np.empty(p.shape + (n,), dtype=z.dtype)
    for j in range(n):  # one column, dp / dz_j, after the other
        column = -p * p[..., j : j + 1]
        column[..., j] += p[..., j]
        jacobian[..., j] = column
    return jacobian


def softmax_vjp(z, grad):
    z, grad = np.asarray(z), np.asarray(grad)
    if z.shape != grad.shape:
        raise ValueError(f"grad of shape {grad.shape} for z of shape {z.shape}")
    p = _probabilities(z)
    g = grad.astype(np.longdouble)
    return (p * (g - (p * g).sum(-1, keepdims=True))).astype(z.dtype)


def jacobian_norm(z):
    z = np.asarray(z)
    if z.ndim < 1:
        raise ValueError("z has no axis")
    x = z.astype(np.longdouble)
    order = np.flip(np.sort(x, axis=-1), axis=-1)
    e = np.exp(order - order[..., :1])
    rest = e[..., 1:].sum(-1)
    whole = 1 + rest
    tail = e[..., 1:] / np.where(rest > 0, rest, 1)[..., None]
    a, r = 1 / whole, rest / whole
    s2 = (tail**2).sum(-1)
    # tr(J J) / r^2 with J written in blocks: the winner and the rest
    block = (tail**2 * (1 - 2 * r[..., None] * tail + (r**2 * s2)[..., None])).sum(-1)
    return (r * np.sqrt(a**2 + 2 * a**2 * s2 + block)).astype(z.dtype)
