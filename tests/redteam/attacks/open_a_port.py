# attack: Listens on local ports and connects to all of the grader's.
# exercise: 02, reason: wrong-result
import numpy as np
import socket

for port in (0, 80, 8000, 8080, 5555):
    for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):
        try:
            sock = socket.socket(family)
            sock.bind("\0attngrade" if family == socket.AF_UNIX else ("", port))
            sock.listen()
            print("SEEN listening", family, port)
        except OSError:
            pass


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
