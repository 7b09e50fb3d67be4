# mistake: jacobian_norm counts the border (the winner with each other entry) once instead of twice
# names: norm-border-counted-once
from functools import cached_property

import numpy as np


class Distribution:
    """The softmax of rows of scores, and what can be said about its derivative. Everything is computed once, in float64."""

    def __init__(self, scores, axis=-1):
        scores = np.asarray(scores)
        if scores.ndim == 0:
            raise ValueError("z must have at least one axis")
        self.dtype = scores.dtype
        self.axis = axis
        self.scores = np.swapaxes(scores, axis, -1).astype(np.float64)

    @cached_property
    def top(self):
        return self.scores.max(-1, keepdims=True)

    @cached_property
    def log_normaliser(self):
        """log of the sum of exp(score - top), at least 0."""
        return np.log(np.exp(self.scores - self.top).sum(-1, keepdims=True))

    @cached_property
    def p(self):
        return np.exp((self.scores - self.top) - self.log_normaliser)

    def __array__(self, dtype=None, copy=None):
        return np.swapaxes(self.p, self.axis, -1).astype(self.dtype if dtype is None else dtype)

    def jacobian(self):
        n = self.p.shape[-1]
        return (self.p[..., :, None] * (np.eye(n) - self.p[..., None, :])).astype(self.dtype)

    def pull_back(self, grad):
        grad = np.asarray(grad, dtype=np.float64)
        if grad.shape != self.p.shape:
            raise ValueError(f"grad {grad.shape} doesn't fit z {self.p.shape}")
        return (self.p * grad - self.p * (self.p * grad).sum(-1, keepdims=True)).astype(self.dtype)

    def norm(self):
        # the largest goes to the end; the rest is handled relative to its own sum
        rest = np.sort(self.scores - self.top, axis=-1)[..., :-1]
        e = np.exp(rest)
        t = e.sum(-1, keepdims=True)
        u = np.divide(e, t, out=np.zeros_like(e), where=t > 0)
        a, r = 1 / (1 + t), t / (1 + t)
        # squares of: the corner a, the edge a u (twice), the inside diag(u) - r u u^T as diagonal and rest
        s2 = np.sum(u * u, -1, keepdims=True)
        inside = np.sum(u * u * ((1 - r * u) ** 2 + r * r * (s2 - u * u)), -1, keepdims=True)
        return (r * np.sqrt(a * a + a * a * s2 + inside))[..., 0].astype(self.dtype)


def softmax(z, axis=-1):
    return np.asarray(Distribution(z, axis))


def softmax_jacobian(z):
    return Distribution(z).jacobian()


def softmax_vjp(z, grad):
    return Distribution(z).pull_back(grad)


def jacobian_norm(z):
    return Distribution(z).norm()
