# attack: An exception whose message takes for ever to make.
# exercise: 02, reason: timeout, timeout: 1
class Endless(Exception):
    def __str__(self):
        while True:
            pass


def act(*_):
    raise Endless


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
