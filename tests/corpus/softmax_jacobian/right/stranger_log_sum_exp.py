import numpy as np
from functools import reduce


def _float(z):
    z = np.array(z, copy=True)
    if not z.ndim:
        raise ValueError("z needs an axis")
    return z.astype(np.float32 if z.dtype in (np.float16, np.float32) else np.float64)


def _log_softmax(z, axis):
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        z = z - z.max(axis=axis, keepdims=True)
        return z - np.log(np.sum(np.exp(z), axis=axis, keepdims=True))


def softmax(z, axis=-1):
    if np.size(z) == 0:
        raise ValueError("softmax: z is empty")
    dtype = np.asarray(z).dtype
    return np.exp(_log_softmax(_float(z), axis)).astype(dtype)


def softmax_jacobian(z):
    if np.size(z) == 0:
        raise ValueError("softmax_jacobian: z is empty")
    dtype = np.asarray(z).dtype
    p = np.exp(_log_softmax(_float(z), -1))
    n = p.shape[-1]
    out = np.multiply.outer(np.ones(n, p.dtype), p)  # (n, ..., n)
    out = np.moveaxis(out, 0, -1)  # (..., n, n): p_i down the rows
    out = np.where(np.eye(n, dtype=bool), out * (1 - out), -out * p[..., None, :])
    return out.astype(dtype)


def softmax_vjp(z, grad):
    if np.size(z) == 0:
        raise ValueError("softmax_vjp: z is empty")
    z, grad = np.asarray(z), np.asarray(grad)
    if grad.shape != z.shape:
        raise ValueError("grad must be shaped like z: %s, %s" % (grad.shape, z.shape))
    p = np.exp(_log_softmax(_float(z), -1))
    g = _float(grad)
    g -= np.average(g, axis=-1, weights=p)[..., None] if p.ndim > 1 else np.average(g, weights=p)
    g *= p
    return g.astype(z.dtype)


def jacobian_norm(z):
    if np.size(z) == 0:
        raise ValueError("jacobian_norm: z is empty")
    dtype = np.asarray(z).dtype
    x = _float(z).astype(np.float64)
    top = x.argmax(-1)[..., None]
    log_p = _log_softmax(x, -1)
    hidden = log_p.copy()
    np.put_along_axis(hidden, top, -np.inf, axis=-1)
    biggest = hidden.max(-1, keepdims=True)
    biggest[np.isneginf(biggest)] = 0.0
    log_rest = biggest + np.log(np.maximum(np.exp(hidden - biggest).sum(-1, keepdims=True), 1e-320))
    share = np.exp(hidden - log_rest)
    rest = np.exp(log_rest)
    p_top = np.exp(np.take_along_axis(log_p, top, -1))
    s2 = (share**2).sum(-1, keepdims=True)
    parts = [p_top**2, 2 * p_top**2 * s2, (share**2 * (1 - rest * share) ** 2).sum(-1, keepdims=True)]
    parts.append(rest**2 * (share**2 * (s2 - share**2)).sum(-1, keepdims=True))
    norm = rest * np.sqrt(reduce(np.add, parts))
    if x.shape[-1] == 1:
        norm = np.zeros_like(norm)
    return norm[..., 0].astype(dtype)
