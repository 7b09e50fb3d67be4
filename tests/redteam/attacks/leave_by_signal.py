# attack: Kills its own process with SIGKILL and hopes that a dead process counts as a machine fault.
# exercise: 02, reason: crash
# says: SIGKILL
import os
import signal


def act(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
