# mistake: softmax sums along the last axis whatever axis is named
# names: softmax-sum-along-the-last-axis
import numpy as np


def _wide(z):
    z = np.asarray(z)
    if not np.issubdtype(z.dtype, np.floating):
        z = z.astype(np.float64)
    return z.astype(np.promote_types(z.dtype, np.float32)), z.dtype


def _vector(z):
    if np.ndim(z) < 1:
        raise ValueError("z must have at least one axis")


def softmax(z, axis=-1):
    _vector(z)
    w, dtype = _wide(z)
    if not -w.ndim <= axis < w.ndim:
        raise ValueError(f"axis {axis} is out of range")
    if w.size == 0:
        return np.zeros(w.shape, dtype)
    with np.errstate(over="ignore"):
        e = np.exp(w - w.max(axis=axis, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)).astype(dtype)


def _p(z):
    w, dtype = _wide(z)
    return softmax(w.astype(np.promote_types(w.dtype, np.float64))), dtype


def softmax_jacobian(z):
    _vector(z)
    p, dtype = _p(z)
    J = -p[..., :, None] * p[..., None, :]
    i = np.arange(p.shape[-1])
    J[..., i, i] += p
    return J.astype(dtype)


def softmax_vjp(z, grad):
    _vector(z)
    if np.shape(z) != np.shape(grad):
        raise ValueError("grad must have the shape of z")
    p, dtype = _p(z)
    g = np.asarray(grad, dtype=np.float64)
    return (p * (g - (p * g).sum(-1, keepdims=True))).astype(dtype)


def jacobian_norm(z):
    _vector(z)
    p, dtype = _p(z)
    s2 = (p**2).sum(-1)
    return np.sqrt(np.maximum(s2 - 2 * (p**3).sum(-1) + s2**2, 0)).astype(dtype)
