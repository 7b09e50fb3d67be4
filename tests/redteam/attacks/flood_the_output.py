# attack: Prints without end.
# exercise: 02, reason: timeout, timeout: 1
def act(*_):
    while True:
        print("x" * 65536)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
