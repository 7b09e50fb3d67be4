# attack: Closes every descriptor, the grader's channel included, and goes on living.
# exercise: 02, reason: crash|timeout, timeout: 1
# says: ended its process|time limit
import os
import time


def act(*_):
    os.closerange(0, 64)
    time.sleep(30)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
