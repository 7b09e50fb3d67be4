# attack: Answers each question twice.
# exercise: 02, reason: crash
# says: channel|question|reply
import numpy as np
import json
import os
import struct


def frame(message, payload=b""):
    header = json.dumps(message).encode()
    return struct.pack("<4sIQ", b"ATG1", len(header), len(payload)) + header + payload


def everywhere(data):
    for fd in range(3, 64):
        try:
            os.write(fd, data)
        except OSError:
            pass


def twice(real):
    def write(fd, data):
        done = real(fd, data)
        if fd > 2:
            real(fd, data)
        return done

    return write


os.write, os.writev = twice(os.write), twice(os.writev)


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
