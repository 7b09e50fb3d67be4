# attack: Sits in native code for minutes: a product of huge integers never looks at signals.
# exercise: 02, reason: timeout|memory, timeout: 1
def act(*_):
    return pow(7, 10**9) % 10


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
