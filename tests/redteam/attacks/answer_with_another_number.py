# attack: Answers with a number of its own choice.
# exercise: 02, reason: crash
# says: question
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
    everywhere(frame({"id": 0, "value": True}))


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
