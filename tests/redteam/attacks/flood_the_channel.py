# attack: Floods the channel without end.
# exercise: 02, reason: crash|timeout, timeout: 3
import os


def act(*_):
    while True:
        for fd in range(3, 64):
            try:
                os.write(fd, b"\0" * 65536)
            except OSError:
                pass


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
