# attack: Half precision, cast back to the asked dtype at the end.
# exercise: 02, reason: wrong-result
# may: earn where half precision is asked or the answer is exact
import numpy as np


def half(z, axis=-1):
    e = np.exp((z - z.max(axis, keepdims=True)).astype(np.float16))
    return (e / e.sum(axis, keepdims=True, dtype=np.float16)).astype(z.dtype)


def softmax(z, axis=-1):
    return half(z, axis)


def softmax_jacobian(z):
    p = half(z)
    return p[..., :, None] * (np.eye(z.shape[-1], dtype=z.dtype) - p[..., None, :])


def softmax_vjp(z, grad):
    p = half(z)
    return p * (grad - (p * grad).sum(-1, keepdims=True))


def jacobian_norm(z):
    return np.sqrt((softmax_jacobian(z) ** 2).sum((-1, -2)))
