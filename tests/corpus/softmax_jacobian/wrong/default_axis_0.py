# mistake: default axis 0
# names: -
import numpy as np


def softmax(z, axis=0):
    z = np.asarray(z)
    x = z.astype(np.float64)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return (e / e.sum(axis=axis, keepdims=True)).astype(z.dtype)


def softmax_jacobian(z):
    z = np.asarray(z)
    p = softmax(z.astype(np.float64))
    n = p.shape[-1]
    return (p[..., :, None] * np.eye(n) - p[..., :, None] * p[..., None, :]).astype(z.dtype)


def softmax_vjp(z, grad):
    z = np.asarray(z)
    p = softmax(z.astype(np.float64))
    g = np.asarray(grad).astype(np.float64)
    return (p * (g - (p * g).sum(axis=-1, keepdims=True))).astype(z.dtype)


def jacobian_norm(z):
    z = np.asarray(z)
    p = softmax(z.astype(np.float64))
    s2 = (p ** 2).sum(axis=-1)
    s3 = (p ** 3).sum(axis=-1)
    return np.sqrt(np.maximum(s2 - 2 * s3 + s2 ** 2, 0)).astype(z.dtype)
