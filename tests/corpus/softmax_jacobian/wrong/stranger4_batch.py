# mistake: softmax_jacobian sums the outer products of all rows
# names: jacobian-outer-products-of-the-batch-summed
import numpy as np


class Row:
    """Log-probabilities along the last axis, in a wide type, and what follows from them."""

    def __init__(self, z):
        z = np.asarray(z)
        if z.ndim == 0:
            raise ValueError("z needs an axis")
        if z.shape[-1] == 0:
            raise ValueError("z needs at least one score")
        self.dtype = z.dtype if z.dtype.kind == "f" else np.dtype(np.float64)
        wide = z.astype(np.promote_types(self.dtype, np.float64))
        with np.errstate(over="ignore"):
            self.shifted = wide - wide.max(-1, keepdims=True, initial=-np.inf)
        self.log_p = self.shifted - np.log(np.exp(self.shifted).sum(-1, keepdims=True))

    @property
    def p(self):
        return np.exp(self.log_p)

    def power_sum(self, k):
        return np.exp(k * self.log_p).sum(-1)

    def cast(self, a):
        return np.asarray(a).astype(self.dtype)[()]


def softmax(z, axis=-1):
    z = np.asarray(z)
    if z.ndim == 0:
        raise ValueError("z needs an axis")
    if axis not in range(-z.ndim, z.ndim):
        raise ValueError(f"axis={axis} isn't an axis of z")
    row = Row(np.swapaxes(z, axis, -1))
    return row.cast(np.swapaxes(row.p, axis, -1))


def softmax_jacobian(z):
    row = Row(z)
    p = row.p
    n = p.shape[-1]
    return row.cast(p[..., :, np.newaxis] * np.identity(n) - p.reshape(-1, n).T @ p.reshape(-1, n))


def softmax_vjp(z, grad):
    row = Row(z)
    grad = np.asarray(grad)
    if grad.shape != row.p.shape:
        raise ValueError(f"grad is {grad.shape}, z is {row.p.shape}")
    p = row.p
    pg = p * grad.astype(p.dtype)
    return row.cast(pg - p * pg.sum(-1, keepdims=True))


def jacobian_norm(z):
    row = Row(z)
    square = row.power_sum(2) * (1 + row.power_sum(2)) - 2 * row.power_sum(3)
    return row.cast(np.sqrt(np.clip(square, 0, None)))
