# attack: Raises SkipTest in every function.
# exercise: 02, reason: wrong-result
# says: SkipTest
import unittest


def act(*_):
    raise unittest.SkipTest("not today")


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
