# attack: Raises GeneratorExit, which few handlers catch.
# exercise: 02, reason: wrong-result
# says: GeneratorExit
def act(*_):
    raise GeneratorExit


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
