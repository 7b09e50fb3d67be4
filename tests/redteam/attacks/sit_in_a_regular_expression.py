# attack: A pathological regular expression that takes for ever.
# exercise: 02, reason: timeout, timeout: 1
# says: time limit
import re


def act(*_):
    return re.match(r"(a+)+$", "a" * 60 + "b")


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
