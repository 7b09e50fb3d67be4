# attack: Raises an exception whose message is never finished.
# exercise: 02, reason: timeout, timeout: 1
import numpy as np
class Endless(Exception):
    def __str__(self):
        while True:
            pass


def act(*args, **kwargs):
    raise Endless


softmax = softmax_jacobian = softmax_vjp = jacobian_norm = act
