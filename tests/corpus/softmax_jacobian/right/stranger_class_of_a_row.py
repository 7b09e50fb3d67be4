from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Softmax:
    """p and its Jacobian as an operator that is never written out."""

    def __init__(self, z: ArrayLike, axis: int = -1):
        self.given = np.asarray(z)
        if self.given.ndim == 0:
            raise ValueError("z has rank 0: there is no axis to normalise over")
        self.axis = axis
        wide = np.promote_types(self.given.dtype, np.float32)
        with np.errstate(over="ignore", under="ignore"):
            shifted = np.subtract(self.given, np.amax(self.given, axis=axis, keepdims=True), dtype=wide)
            self.p: NDArray = np.exp(shifted)
        self.p /= np.add.reduce(self.p, axis=axis, keepdims=True)

    def back(self, result: NDArray) -> NDArray:
        return result.astype(self.given.dtype)

    def dense(self) -> NDArray:
        column = np.expand_dims(self.p, -1)
        return column * (np.identity(self.p.shape[-1], dtype=self.p.dtype) - np.expand_dims(self.p, -2))

    def __matmul__(self, g: NDArray) -> NDArray:
        centre = np.matmul(self.p[..., None, :], g[..., :, None])[..., 0]
        return (g - centre) * self.p


def softmax(z, axis=-1):
    if np.size(z) == 0:
        raise ValueError("softmax: z is empty")
    s = Softmax(z, axis)
    return s.back(s.p)


def softmax_jacobian(z):
    if np.size(z) == 0:
        raise ValueError("softmax_jacobian: z is empty")
    s = Softmax(z)
    return s.back(s.dense())


def softmax_vjp(z, grad):
    if np.size(z) == 0:
        raise ValueError("softmax_vjp: z is empty")
    s = Softmax(z)
    g = np.asarray(grad)
    if g.shape != s.given.shape:
        raise ValueError(f"grad is {g.shape}, z is {s.given.shape}; they must agree")
    return s.back(s @ g.astype(np.promote_types(s.p.dtype, g.dtype)))


def jacobian_norm(z):
    if np.size(z) == 0:
        raise ValueError("jacobian_norm: z is empty")
    given = np.asarray(z)
    if given.ndim == 0:
        raise ValueError("z has rank 0")
    x = given.astype(np.float64)
    order = np.argpartition(x, -1, axis=-1)
    x = np.take_along_axis(x, order, axis=-1)
    with np.errstate(under="ignore", over="ignore", divide="ignore"):
        log_tail = x[..., :-1] - x[..., -1:]
        tail = np.exp(log_tail)
    mass = tail.sum(-1)
    share = np.divide(tail, mass[..., None], out=np.zeros_like(tail), where=mass[..., None] > 0)
    top = 1 / (1 + mass)
    rest = mass * top
    p = share * rest[..., None]
    own = np.square(share * (1 - p)).sum(-1) + top**2
    cross_with_top = 2 * top**2 * np.square(share).sum(-1)
    s2 = np.square(share).sum(-1)
    cross_among_tail = (np.square(share) * (s2[..., None] - np.square(share))).sum(-1) * rest**2
    return (rest * np.sqrt(own + cross_with_top + cross_among_tail)).astype(given.dtype)[()]
