# attack: An exception whose message is a hundred million characters.
# exercise: 02, reason: wrong-result
def act(*_):
    raise ValueError("x" * 10**8)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
