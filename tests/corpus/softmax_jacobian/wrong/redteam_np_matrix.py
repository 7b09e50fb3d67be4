# mistake: the weights come as np.matrix, whose product is another one than an array's
# says: came back as a matrix where an array was asked
# behind: the solution
_weights = softmax


def softmax(z, axis=-1):
    p = _weights(z, axis)
    return np.matrix(p) if p.ndim == 2 else p
