# mistake: float64 scores are written over, since astype(copy=False) makes no copy of them
# names: softmax-changes-double-arguments
"""A decorator widens the arguments and casts the result back; the functions themselves are the formulas."""

from functools import wraps

import numpy as np


def widened(f):
    @wraps(f)
    def inner(z, *args, **kwargs):
        z = np.asarray(z)
        if z.ndim < 1 or 0 in z.shape:
            raise ValueError(f"z of shape {z.shape} won't do")
        home = z.dtype if np.issubdtype(z.dtype, np.floating) else np.float64
        wide = np.result_type(home, np.float64)
        if args and f.__name__ == "softmax_vjp":
            args = (np.asarray(args[0]),)
        if "grad" in kwargs:
            args = (np.asarray(kwargs.pop("grad")),)
        if f.__name__ == "softmax_vjp":
            if args[0].shape != z.shape:
                raise ValueError(f"grad of shape {args[0].shape} won't do for z of shape {z.shape}")
            args = (args[0].astype(wide),)
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(f(z.astype(wide, copy=False), *args, **kwargs), dtype=home)[()]

    return inner


@widened
def softmax(z, axis=-1):
    if not isinstance(axis, (int, np.integer)) or not -z.ndim <= axis < z.ndim:
        raise ValueError(f"axis {axis} won't do")
    z -= np.max(z, axis, keepdims=True)
    np.exp(z, out=z)
    z /= np.sum(z, axis, keepdims=True)
    return z


@widened
def softmax_jacobian(z):
    p = softmax(z)
    J = np.multiply(p[..., None], p[..., None, :])
    np.negative(J, out=J)
    np.einsum("...ii->...i", J)[...] += p
    return J


@widened
def softmax_vjp(z, grad):
    p = softmax(z)
    centred = grad - np.matmul(p[..., None, :], grad[..., :, None])[..., 0]
    return p * centred


@widened
def jacobian_norm(z):
    p = softmax(z)
    p2 = np.square(p)
    s = p2.sum(-1)
    # |J|^2 = sum p_i^2 (1 - 2 p_i + s)
    return np.sqrt(np.maximum((p2 * (1 - 2 * p + s[..., None])).sum(-1), 0))
