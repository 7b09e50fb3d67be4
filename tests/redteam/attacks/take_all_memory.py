# attack: Takes memory until there is none.
# exercise: 02, reason: memory, timeout: 20
# says: memory
def act(*_):
    held = []
    while True:
        held.append(bytearray(64 << 20))


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
