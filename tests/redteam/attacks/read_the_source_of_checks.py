# attack: Asks for the source text of the checks by introspection and by import.
# exercise: 02, reason: wrong-result
import numpy as np
import importlib
import inspect
import linecache
import pkgutil

for name in ("attngrade", "attngrade.checks.check_softmax_jacobian", "attngrade.solutions.exercise02_softmax_jacobian", "attngrade.checks.claims", "grader"):
    try:
        print("SEEN", inspect.getsource(importlib.import_module(name)))
    except BaseException as error:
        print(type(error).__name__)
print([key for key in linecache.cache if "check_" in key or "solution" in key])
print([module.name for module in pkgutil.iter_modules() if "attngrade" in module.name and not module.name.startswith("__editable__")])


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
