# attack: Answers after the deadline of a call, from a thread.
# exercise: 02, reason: crash|wrong-result
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


import threading
import time


def act(*_):
    threading.Timer(1.0, everywhere, (frame({"id": 7, "value": True}),)).start()
    time.sleep(0.05)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
