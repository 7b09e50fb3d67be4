# attack: Raises SystemExit(0) in the middle of a check.
# exercise: 02, reason: wrong-result
# says: SystemExit
def act(*_):
    raise SystemExit(0)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
