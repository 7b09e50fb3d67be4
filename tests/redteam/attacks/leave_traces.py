# attack: Leaves traces wherever it can, for the next submission to find.
# exercise: 02, reason: wrong-result
import numpy as np
import builtins
import os
import sys

builtins.ATTNGRADE_WAS_HERE = True
os.environ["ATTNGRADE_WAS_HERE"] = "1"
sys.ATTNGRADE_WAS_HERE = True
for folder in ("/tmp", "/dev/shm", "/var/tmp", "/", os.getcwd(), os.path.expanduser("~"), "/run", "/dev/mqueue", "/attngrade", "/etc", "/usr/local/lib"):
    try:
        open(os.path.join(folder, "ATTNGRADE_WAS_HERE"), "w").write("left")
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
