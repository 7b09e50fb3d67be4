# attack: Returns lists that hold themselves, and generators without end.
# exercise: 02, reason: wrong-result
import itertools


def act(*_):
    own = []
    own.append(own)
    return [own, (own, own), itertools.count()]


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
