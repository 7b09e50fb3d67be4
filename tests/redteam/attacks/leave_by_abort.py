# attack: Aborts, which leaves a core dump where those are allowed.
# exercise: 02, reason: crash
# says: SIGABRT
import os


def act(*_):
    os.abort()


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
