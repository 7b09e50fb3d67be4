import numpy as np

# J = S (1 - s s^T) S  with  s = sqrt(p), S = diag(s): a projection, seen through square roots


def _root(z, axis=-1):
    """sqrt of the softmax, as exp(half) divided by its length."""
    z = np.asarray(z)
    if z.ndim == 0:
        raise ValueError("z: at least one axis")
    z = z.astype(np.float32 if z.dtype == np.float16 else z.dtype)
    half = np.exp((z - z.max(axis=axis, keepdims=True)) / 2)
    return half / np.sqrt(np.square(half).sum(axis=axis, keepdims=True))


def softmax(z, axis=-1):
    return np.square(_root(z, axis)).astype(np.asarray(z).dtype)


def softmax_jacobian(z):
    s = _root(z)
    identity = np.identity(s.shape[-1], dtype=s.dtype)
    projection = identity - s[..., None] @ s[..., None, :]
    return (s[..., None] * projection * s[..., None, :]).astype(np.asarray(z).dtype)


def softmax_vjp(z, grad):
    s = _root(z)
    g = np.asarray(grad).astype(s.dtype)
    if g.shape != s.shape:
        raise ValueError("grad: not the shape of z")
    x = s * g
    along = np.matmul(s[..., None, :], x[..., None])[..., 0]
    return (s * (x - s * along)).astype(np.asarray(z).dtype)


def jacobian_norm(z):
    z = np.asarray(z)
    if z.ndim == 0:
        raise ValueError("z: at least one axis")
    gaps = z.astype(np.float64) - z.max(-1, keepdims=True).astype(np.float64)
    flat = gaps.reshape(-1, gaps.shape[-1])
    is_top = np.arange(flat.shape[1]) == flat.argmax(1)[:, None]
    e = np.where(is_top, 0.0, np.exp(flat))
    biggest = e.max(1, initial=0.0)
    unit = e / np.where(biggest > 0, biggest, 1.0)[:, None]  # others relative to the second largest
    t = unit.sum(1)
    weight = biggest * t
    t = np.where(t > 0, t, 1.0)
    u = unit / t[:, None]
    r, a = weight / (1 + weight), 1 / (1 + weight)
    s2, s3 = np.vecdot(u, u), np.vecdot(u * u, u)
    square = a**2 * (1 + 2 * s2) + s2 * (1 + r**2 * s2) - 2 * r * s3
    return (r * np.sqrt(square)).reshape(gaps.shape[:-1]).astype(z.dtype)
