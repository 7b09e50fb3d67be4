# mistake: softmax_vjp rounds weights and gradient to float16 and sums there
# names: vjp-in-float16-throughout
import numpy as np


def need(z, grad=None):
    if z.ndim < 1:
        raise ValueError("z is a scalar")
    if grad is not None and grad.shape != z.shape:
        raise ValueError("grad is not shaped like z")

up = lambda z: np.asarray(z, dtype=np.result_type(np.asarray(z).dtype, np.float32))  # noqa: E731


def softmax(z, axis=-1):
    need(z)
    w = up(z)
    e = np.exp(w - w.max(axis, keepdims=True))
    return (e / e.sum(axis, keepdims=True)).astype(z.dtype)


def softmax_jacobian(z):
    need(z)
    p = softmax(up(z))
    return (p[..., None] * (np.eye(p.shape[-1], dtype=p.dtype) - p[..., None, :])).astype(z.dtype)


def softmax_vjp(z, grad):
    need(z, grad)
    p, g = softmax(z), np.asarray(grad, dtype=z.dtype)
    return (p * (g - (p * g).sum(-1, keepdims=True))).astype(z.dtype)


def jacobian_norm(z):
    need(z)
    p = np.sort(softmax(up(z).astype(np.float64)))
    a, o = p[..., -1], p[..., :-1]
    r = o.sum(-1)
    u = o / np.where(r > 0, r, 1)[..., None]
    s = np.square(u).sum(-1)
    inner = np.square(a) * (1 + 2 * s) + (np.square(u) * np.square(1 - o)).sum(-1) + np.square(r) * (s * s - (u**4).sum(-1))
    return (r * np.sqrt(inner))[()].astype(z.dtype)
