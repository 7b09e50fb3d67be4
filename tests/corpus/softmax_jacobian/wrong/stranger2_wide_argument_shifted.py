# mistake: softmax computes in z's own array: for float32 and float64 input the caller's z is shifted in place
# names: softmax-changes-wide-arguments
import numpy as np


def softmax(z, axis=-1):
    z = np.asarray(z)
    if z.ndim == 0:
        raise ValueError("z must have at least one axis")
    dtype = z.dtype
    if dtype == np.float16:
        z = z.astype(np.float32)
    z -= z.max(axis=axis, keepdims=True)
    e = np.exp(z)
    p = e / e.sum(axis=axis, keepdims=True)
    return p.astype(dtype)


def _p(z):
    # probabilities in float64, so that nothing is lost before the last cast
    return softmax(np.array(z, dtype=np.float64))


def softmax_jacobian(z):
    p = _p(z)
    n = p.shape[-1]
    J = np.eye(n) * p[..., None, :] - p[..., :, None] * p[..., None, :]
    return J.astype(np.asarray(z).dtype)


def softmax_vjp(z, grad):
    z = np.asarray(z)
    grad = np.asarray(grad)
    if grad.shape != z.shape:
        raise ValueError("grad must have the shape of z")
    p = _p(z)
    g = grad.astype(np.float64)
    inner = (p * g).sum(axis=-1, keepdims=True)
    out = p * (g - inner)
    return out.astype(z.dtype)


def jacobian_norm(z):
    z = np.asarray(z)
    if z.ndim == 0:
        raise ValueError("z must have at least one axis")
    wide = z.astype(np.float64)
    # sorted: the winner stands last, the others before it
    wide = np.sort(wide, axis=-1)
    e = np.exp(wide - wide[..., -1:])
    others = e[..., :-1]
    t = others.sum(axis=-1)
    u = others / np.where(t > 0, t, 1.0)[..., None]
    a = 1.0 / (1.0 + t)
    r = t / (1.0 + t)
    s2 = (u ** 2).sum(axis=-1)
    s3 = (u ** 3).sum(axis=-1)
    square = a ** 2 + 2 * a ** 2 * s2 + s2 - 2 * r * s3 + (r * s2) ** 2
    return (r * np.sqrt(square)).astype(z.dtype)
