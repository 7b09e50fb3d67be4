# attack: Takes its own processor time away, so that the kernel ends it.
# exercise: 02, reason: crash|wrong-result
import numpy as np
import resource

resource.setrlimit(resource.RLIMIT_CPU, (0, 0))


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
