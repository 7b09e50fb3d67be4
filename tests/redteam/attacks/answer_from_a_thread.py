# attack: Answers with the right number from a thread, while the worker is about to answer too.
# exercise: 02, reason: crash|wrong-result
import numpy as np
import json
import os
import struct
import sys
import threading


def answer():
    for frame in sys._current_frames().values():
        while frame is not None:
            message = frame.f_locals.get("message")
            if isinstance(message, dict) and "id" in message:
                header = json.dumps({"id": message["id"], "value": True, "mutated": [], "touched": []}).encode()
                for fd in range(3, 64):
                    try:
                        os.write(fd, struct.pack("<4sIQ", b"ATG1", len(header), 0) + header)
                    except OSError:
                        pass
                return
            frame = frame.f_back


def act(z, *_, **__):
    thread = threading.Thread(target=answer)
    thread.start()
    thread.join()
    return z


softmax = softmax_jacobian = softmax_vjp = jacobian_norm = act
