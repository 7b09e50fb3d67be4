# attack: Answers one byte a second, always alive.
# exercise: 02, reason: timeout|crash, timeout: 1
import os
import time


def act(*_):
    for octet in b"ATG1" + bytes([16, 0, 0, 0]) + bytes(8) + b" " * 60:
        for fd in range(3, 64):
            try:
                os.write(fd, bytes([octet]))
            except OSError:
                pass
        time.sleep(0.3)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
