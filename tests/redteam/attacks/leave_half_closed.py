# attack: Closes the side of the channel that answers and keeps the other.
# exercise: 02, reason: crash|timeout, timeout: 1
import os
import time


def act(*_):
    for fd in range(3, 64):
        try:
            os.write(fd, b"")
            os.close(fd)
        except OSError:
            pass
    time.sleep(30)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
