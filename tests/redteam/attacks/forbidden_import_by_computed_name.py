# attack: Imports the forbidden framework by a name that is put together.
# exercise: 02, reason: rule-broken|wrong-result
# says: off limits|No module
import importlib

name = "".join(chr(code) for code in (116, 111, 114, 99, 104))


def act(z, *_):
    forbidden = importlib.import_module(name)
    return forbidden.softmax(forbidden.from_numpy(z), -1).numpy()


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
