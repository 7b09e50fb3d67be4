# attack: Reaches the worker's session through the frames and makes every later call return the same value.
# exercise: 02, reason: wrong-result
import sys


def act(*_):
    frame = sys._getframe()
    while frame is not None:
        for value in list(frame.f_locals.values()):
            if type(value).__name__ == "Session":
                type(value).compute = lambda self, *a, **k: {"value": True, "mutated": [], "touched": []}
        frame = frame.f_back


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
