# attack: Catches whatever is thrown, the interrupt of a time limit included, and carries on.
# exercise: 02, reason: timeout, timeout: 1
# says: time limit
def act(*_):
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
