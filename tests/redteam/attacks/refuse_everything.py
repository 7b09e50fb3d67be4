# attack: Raises ValueError with every parameter's name in it, whatever is asked.
# exercise: 02, reason: wrong-result
def act(*_):
    raise ValueError("z, grad, axis: n, q, k, v, scores, mask, lengths, t_q, t_k, d_k must be positive")


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
