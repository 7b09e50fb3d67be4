# attack: Kills its parent process.
# exercise: 02, reason: wrong-result|crash
# says: PermissionError|not permitted
import os
import signal


def act(*_):
    os.kill(os.getppid(), signal.SIGKILL)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
