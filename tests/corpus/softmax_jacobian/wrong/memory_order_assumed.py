# mistake: a reshape of the flat buffer stands for the axis
# names: softmax-reshaped-instead-of-moved
import numpy as np


def softmax(z, axis=-1):
    z = np.asarray(z)
    rows = z.astype(np.float64).reshape(-1, z.shape[axis])
    e = np.exp(rows - rows.max(axis=1, keepdims=True))
    return (e / e.sum(axis=1, keepdims=True)).reshape(z.shape).astype(z.dtype)


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
