# attack: Stops its process with SIGSTOP: not dead, never an answer.
# exercise: 02, reason: timeout, timeout: 1
# says: time limit
import os
import signal


def act(*_):
    os.kill(os.getpid(), signal.SIGSTOP)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
