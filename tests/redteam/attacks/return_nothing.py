# attack: Every function returns None.
# exercise: 02, reason: wrong-result
def softmax(z, axis=-1):
    return None


def softmax_jacobian(z):
    return None


def softmax_vjp(z, grad):
    return None


def jacobian_norm(z):
    return None
