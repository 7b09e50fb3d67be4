# attack: An exception whose class fails to say what it is.
# exercise: 02, reason: wrong-result|crash
class Meta(type):
    @property
    def __mro__(cls):
        raise SystemExit(0)

    @property
    def __name__(cls):
        raise SystemExit(0)


class Strange(BaseException, metaclass=Meta):
    pass


def act(*_):
    raise Strange


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
