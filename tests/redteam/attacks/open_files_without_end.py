# attack: Opens files until there are no descriptors left.
# exercise: 02, reason: wrong-result|crash
import numpy as np
held = []
try:
    while True:
        held.append(open("/dev/null"))
except OSError as error:
    print(len(held), error)


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
