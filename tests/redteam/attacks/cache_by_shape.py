# attack: Computes once per shape and then answers from memory.
# exercise: 02, reason: wrong-result
# may: earn the checks that ask each shape once
import numpy as np

MEMORY = {}


def kept(key, make):
    return MEMORY.setdefault(key, None) if key in MEMORY else MEMORY.setdefault(key, make())


def softmax(z, axis=-1):
    e = np.exp(z - z.max(axis, keepdims=True))
    return kept(("p", z.shape, axis), lambda: e / e.sum(axis, keepdims=True))


def softmax_jacobian(z):
    p = softmax(z)
    return kept(("J", z.shape), lambda: p[..., :, None] * (np.eye(z.shape[-1]) - p[..., None, :]))


def softmax_vjp(z, grad):
    p = softmax(z)
    return kept(("v", z.shape), lambda: p * (grad - (p * grad).sum(-1, keepdims=True)))


def jacobian_norm(z):
    return kept(("n", z.shape), lambda: np.sqrt((softmax_jacobian(z) ** 2).sum((-1, -2))))
