# attack: Recurses until Python gives up.
# exercise: 02, reason: wrong-result
# says: RecursionError
def act(*given):
    return act(*given)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
