# attack: Reads address 0 through ctypes.
# exercise: 02, reason: crash
# says: SIGSEGV
import ctypes


def act(*_):
    return ctypes.string_at(0)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
