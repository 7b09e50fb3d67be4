# attack: Prints the locals and globals of every caller, where an expected value might be.
# exercise: 02, reason: wrong-result
import sys


def act(*_):
    frame = sys._getframe().f_back
    while frame is not None:
        for name, value in {**frame.f_globals, **frame.f_locals}.items():
            print("LOOKED", frame.f_code.co_filename, name, repr(value)[:2000])
        frame = frame.f_back


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
