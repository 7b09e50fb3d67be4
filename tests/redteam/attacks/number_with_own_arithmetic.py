# attack: Results are floats whose absolute value, subtraction and comparison are overridden.
# exercise: 02, reason: wrong-result
class Agreeable(float):
    def __sub__(self, other):
        return Agreeable(0)

    __rsub__ = __add__ = __radd__ = __mul__ = __truediv__ = __sub__

    def __abs__(self):
        return Agreeable(0)

    def __eq__(self, other):
        return True

    __le__ = __lt__ = __ge__ = __gt__ = __eq__
    __hash__ = float.__hash__


def act(*_):
    return Agreeable(0.5)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
