import numpy as np


def _fail(name, text):
    raise ValueError(name + ": " + text)


def _own(z, name):
    """A wide copy that may be worked on in place."""
    a = np.asarray(z)
    if a.ndim == 0:
        _fail(name, "a scalar has no axis")
    return np.array(a, dtype=np.result_type(a.dtype, np.float32), copy=True)


def _softmax_inplace(a):
    with np.errstate(all="ignore"):
        np.subtract(a, a.max(axis=-1, keepdims=True), out=a)
        np.exp(a, out=a)
    np.divide(a, a.sum(axis=-1, keepdims=True), out=a)
    return a


def softmax(z, axis=-1):
    if np.size(z) == 0:
        raise ValueError("softmax: z is empty")
    a = np.ascontiguousarray(np.swapaxes(_own(z, "z"), axis, -1))
    return np.swapaxes(_softmax_inplace(a), axis, -1).astype(np.asarray(z).dtype)


def softmax_jacobian(z):
    if np.size(z) == 0:
        raise ValueError("softmax_jacobian: z is empty")
    p = _softmax_inplace(_own(z, "z"))
    n = p.shape[-1]
    jac = np.empty(p.shape + (n,), dtype=p.dtype)
    np.multiply(p[..., None], p[..., None, :], out=jac)
    np.negative(jac, out=jac)
    diagonal = np.einsum("...ii->...i", jac)  # a writable view
    diagonal += p
    return jac.astype(np.asarray(z).dtype)


def softmax_vjp(z, grad):
    if np.size(z) == 0:
        raise ValueError("softmax_vjp: z is empty")
    p, g = _own(z, "z"), _own(grad, "grad")
    if p.shape != g.shape:
        _fail("grad", f"shape {g.shape}, z has shape {p.shape}")
    _softmax_inplace(p)
    g *= p
    shared = g.sum(axis=-1, keepdims=True)
    p *= shared
    g -= p
    return g.astype(np.asarray(z).dtype)


def jacobian_norm(z):
    if np.size(z) == 0:
        raise ValueError("jacobian_norm: z is empty")
    a = _own(z, "z").astype(np.float64)
    flat = a.reshape(-1, a.shape[-1])
    rows = np.arange(len(flat))
    top = flat.argmax(axis=1)
    with np.errstate(all="ignore"):
        flat = np.exp(flat - flat[rows, top][:, None])
    flat[rows, top] = 0.0
    mass = flat.sum(axis=1)
    flat /= np.maximum(mass, np.finfo(np.float64).tiny)[:, None]
    first = 1.0 / (1.0 + mass)
    rest = mass * first
    square = np.square(flat)
    s2 = square.sum(axis=1)
    s3 = (square * flat).sum(axis=1)
    inside = first**2 * (1 + s2) + s2 * (1 + first**2) - 2 * rest * s3 + (rest * s2) ** 2
    inside[mass == 0] = 0.0
    return (rest * np.sqrt(inside)).reshape(a.shape[:-1]).astype(np.asarray(z).dtype)
