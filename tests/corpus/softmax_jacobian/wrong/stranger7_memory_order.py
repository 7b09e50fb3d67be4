# mistake: reshape keeps Fortran order on the way in and not on the way out
# names: softmax-rows-in-the-order-of-memory
"""Ported from MATLAB: bsxfun, columns, permute."""
import numpy as np


def need(*arrays):
    if arrays[0].ndim == 0:
        raise ValueError("z must have columns")
    if len({a.shape for a in arrays}) > 1:
        raise ValueError("Matrix dimensions of z and grad must agree.")


def bsxfun(f, a, b):
    return f(*np.broadcast_arrays(a, b))


times, minus, rdivide = np.multiply, np.subtract, np.true_divide


def colons(z):
    """(..., n) as n-by-m double or single columns, and the way back."""
    y = np.require(z, dtype=np.float32 if z.dtype == np.float16 else z.dtype).reshape((-1, z.shape[-1]), order="A").T
    return y, lambda x, *tail: np.ascontiguousarray(x).reshape((*z.shape[:-1], *tail)).astype(z.dtype)


def columns_softmax(y):
    with np.errstate(over="ignore", under="ignore"):
        e = np.exp(bsxfun(minus, y, y.max(axis=0)[None, :]))
    return bsxfun(rdivide, e, e.sum(axis=0)[None, :])


def softmax(z, axis=-1):
    need(z)
    z_last = np.swapaxes(z, axis, -1)
    y, back = colons(z_last)
    return np.swapaxes(back(columns_softmax(y).T, z_last.shape[-1]), axis, -1).copy()


def softmax_jacobian(z):
    need(z)
    y, back = colons(z)
    p = columns_softmax(y)
    n, m = p.shape
    J = np.empty((m, n, n), dtype=p.dtype)
    for c in range(m):
        J[c] = np.diagflat(p[:, c]) - np.outer(p[:, c], p[:, c])
    return back(J, n, n)


def softmax_vjp(z, grad):
    need(z, grad)
    y, back = colons(z)
    g, _ = colons(grad)
    p = columns_softmax(y)
    centred = bsxfun(minus, g, times(p, g).sum(axis=0)[None, :])
    return back(times(p, centred).T, z.shape[-1])


def jacobian_norm(z):
    need(z)
    y, back = colons(z)
    y = y.astype(np.float64)
    n, m = y.shape
    norms = np.zeros(m)
    top = y.argmax(axis=0)
    d = bsxfun(minus, y, y[top, np.arange(m)][None, :])
    d[top, np.arange(m)] = -np.inf
    with np.errstate(under="ignore"):
        e = np.exp(d)
    t = e.sum(axis=0)
    live = t > 0
    e, t = e[:, live], t[live]
    a, r, u = 1 / (1 + t), t / (1 + t), e / t[None, :]
    p = u * r[None, :]
    s = times(u, u).sum(axis=0)
    norms[live] = r * np.sqrt(a**2 * (1 + 2 * s) + (times(u, 1 - p) ** 2).sum(axis=0) + r**2 * (s**2 - (u**4).sum(axis=0)))
    return back(norms)[()]
