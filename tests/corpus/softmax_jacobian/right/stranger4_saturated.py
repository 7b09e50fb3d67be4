# right: The largest probability is never subtracted from one: everything is told by the others, relative to the second largest score.
"""The largest probability is never subtracted from one: everything is told by the others, relative to the second largest score."""

import numpy as np


def _prepare(z, name="z"):
    z = np.asarray(z)
    if z.ndim == 0:
        raise ValueError(f"{name}: a scalar has no axis")
    if z.size == 0:
        raise ValueError(f"{name}: empty")
    kind = z.dtype if z.dtype.kind == "f" else np.dtype(float)
    return z.astype(np.longdouble if kind.itemsize > 8 else np.float64), kind


def softmax(z, axis=-1):
    x, kind = _prepare(z)
    try:
        x = np.moveaxis(x, axis, -1)
    except ValueError as error:
        raise ValueError(f"axis: {error}") from None
    with np.errstate(over="ignore", under="ignore"):
        e = np.exp(x - np.amax(x, -1, keepdims=True))
    e /= e.sum(-1, keepdims=True)
    return np.ascontiguousarray(np.moveaxis(e, -1, axis)).astype(kind)


def softmax_jacobian(z):
    x, kind = _prepare(z)
    p = softmax(x)
    return (np.eye(p.shape[-1]) * p[..., None, :] - np.einsum("...i,...j->...ij", p, p)).astype(kind)


def softmax_vjp(z, grad):
    x, kind = _prepare(z)
    g, _ = _prepare(grad, "grad")
    if g.shape != x.shape:
        raise ValueError(f"grad: {g.shape} for z {x.shape}")
    p = softmax(x)
    g = g - np.einsum("...i,...i->...", p, g)[..., None]
    return (g * p).astype(kind)


def jacobian_norm(z):
    x, kind = _prepare(z)
    n = x.shape[-1]
    if n == 1:
        return np.zeros(x.shape[:-1], kind)[()]
    flat = np.sort(x.reshape(-1, n), -1)
    top, others = flat[:, -1:], flat[:, :-1]
    with np.errstate(over="ignore", under="ignore"):
        w = np.exp(others - others[:, -1:])
        r = w.sum(-1)
        w /= r[:, None]  # shares among the others
        odds = r * np.exp((others[:, -1:] - top)[:, 0])  # (1 - p) / p of the largest
        p = 1 / (1 + odds)
        rest = odds * p
        q = w * rest[:, None]
        q2 = (w * w).sum(-1)
        inside = p * p * (1 + 2 * q2) + ((w * (1 - q)) ** 2).sum(-1) + rest**2 * (q2**2 - (w**4).sum(-1))
        out = rest * np.sqrt(inside)
    return out.reshape(x.shape[:-1]).astype(kind)[()]
