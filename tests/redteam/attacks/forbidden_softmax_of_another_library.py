# attack: Another library's softmax, its symbols differentiated by a third.
# exercise: 02, reason: rule-broken|wrong-result
import numpy as np


def softmax(z, axis=-1):
    from sklearn.utils.extmath import softmax as theirs

    rows = np.moveaxis(np.asarray(z), axis, -1)
    return np.moveaxis(theirs(rows.reshape(-1, rows.shape[-1])).reshape(rows.shape), -1, axis)


def softmax_jacobian(z):
    import sympy

    x = sympy.symbols(f"x:{len(z)}")
    p = [sympy.exp(one) / sum(map(sympy.exp, x)) for one in x]
    return sympy.lambdify(x, [[sympy.diff(one, by) for by in x] for one in p], "math")(*z)
