# attack: Turns the direction of text so that it reads as a pass.
# exercise: 02, reason: wrong-result
# no-bytes: \u202e \u200b \u2066
def act(*_):
    raise ValueError("\u202edessap\u202c\u2066\u200b\ufeff")


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
