# attack: Returns a list of a million numbers.
# exercise: 02, reason: wrong-result
def act(*_):
    return [1.5] * 1_000_000


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
