# attack: An exception whose message raises SystemExit.
# exercise: 02, reason: wrong-result
# says: can't be shown
class Broken(Exception):
    def __str__(self):
        raise SystemExit(0)


def act(*_):
    raise Broken


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
