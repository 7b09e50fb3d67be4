# attack: Raises an exception with a hundred thousand causes.
# exercise: 02, reason: wrong-result|timeout, timeout: 3
import numpy as np
def act(*args, **kwargs):
    error = None
    for number in range(100_000):
        following = ValueError(number)
        following.__cause__ = error
        error = following
    raise error


softmax = softmax_jacobian = softmax_vjp = jacobian_norm = act
