"""long double inside, the last axis handled by moving axes, the Jacobian filled entry by entry."""

import numpy as np

WIDE = np.longdouble


def softmax(z, axis=-1):
    z = np.asarray(z)
    last = np.swapaxes(z, axis, -1).astype(WIDE)
    last = np.exp(last - last.max(-1)[..., None])
    last = last / last.sum(-1)[..., None]
    return np.swapaxes(last, axis, -1).astype(z.dtype)


def softmax_jacobian(z):
    z = np.asarray(z)
    p = softmax(z.astype(WIDE))
    n = p.shape[-1]
    out = np.empty((*p.shape, n), dtype=z.dtype)
    for i in range(n):
        for j in range(n):
            out[..., i, j] = p[..., i] * ((i == j) - p[..., j])
    return out


def softmax_vjp(z, grad):
    z = np.asarray(z)
    p = softmax(z.astype(WIDE))
    flat_p, flat_grad = p.reshape(-1, p.shape[-1]), np.asarray(grad).astype(WIDE).reshape(-1, p.shape[-1])
    rows = [one * (g - np.dot(one, g)) for one, g in zip(flat_p, flat_grad, strict=True)]
    return np.array(rows).reshape(p.shape).astype(z.dtype)


def jacobian_norm(z):
    z = np.asarray(z)
    p = softmax(z.astype(WIDE))
    order = np.argsort(p, axis=-1)
    top = np.take_along_axis(p, order[..., -1:], axis=-1)[..., 0]
    others = np.take_along_axis(p, order[..., :-1], axis=-1)
    rest = others.sum(-1)
    squares = (others**2).sum(-1)
    total = (top * rest) ** 2 + (others**2 * (1 - others) ** 2).sum(-1) + 2 * top**2 * squares + squares**2 - (others**4).sum(-1)
    return np.sqrt(total).astype(z.dtype)
