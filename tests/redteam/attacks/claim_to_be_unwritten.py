# attack: Says not implemented and hopes for the path that charges nobody.
# exercise: 02, reason: not-implemented
def act(*_):
    raise NotImplementedError("TODO")


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
