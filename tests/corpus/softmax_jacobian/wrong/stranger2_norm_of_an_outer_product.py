# mistake: jacobian_norm takes J for the outer product of p and 1 - p, so it returns |p| |1 - p|
# names: norm-as-an-outer-product
import numpy as np


def softmax(z, axis=-1):
    z = np.asarray(z)
    if z.ndim == 0:
        raise ValueError("z must have at least one axis")
    dtype = z.dtype
    if dtype == np.float16:
        z = z.astype(np.float32)
    shifted = z - z.max(axis=axis, keepdims=True)
    e = np.exp(shifted)
    p = e / e.sum(axis=axis, keepdims=True)
    return p.astype(dtype)


def _p(z):
    # probabilities in float64, so that nothing is lost before the last cast
    return softmax(np.asarray(z).astype(np.float64))


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
    p = _p(z)
    # J = p (1 - p)^T, and the norm of an outer product is the product of the norms
    length_p = np.sqrt((p ** 2).sum(axis=-1))
    length_rest = np.sqrt(((1 - p) ** 2).sum(axis=-1))
    return (length_p * length_rest).astype(z.dtype)
