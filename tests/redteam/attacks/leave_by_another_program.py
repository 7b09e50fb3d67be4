# attack: Replaces its process by a program that succeeds.
# exercise: 02, reason: wrong-result|crash
# says: PermissionError|not permitted|ended its process
import os


def act(*_):
    os.execv("/usr/bin/true", ["true"])


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
