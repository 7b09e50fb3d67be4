# attack: Raises MemoryError and hopes that a small machine is blamed.
# exercise: 02, reason: memory
# says: memory
def act(*_):
    raise MemoryError


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
