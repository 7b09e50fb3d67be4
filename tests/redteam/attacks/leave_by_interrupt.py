# attack: Raises KeyboardInterrupt, so that the grader believes that its user gave up.
# exercise: 02, reason: wrong-result
# says: KeyboardInterrupt
def act(*_):
    raise KeyboardInterrupt


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
