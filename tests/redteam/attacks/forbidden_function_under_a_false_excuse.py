# attack: Tries the forbidden function first and falls back where it is missing.
# exercise: 02, reason: rule-broken
# says: off limits
try:
    from scipy.special import softmax as theirs
except Exception:
    theirs = None


def act(z, *_):
    return theirs(z) if theirs else z


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
