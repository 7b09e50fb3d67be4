# attack: Looks for traces of the submission before it, and for its answers.
# exercise: 02, reason: wrong-result
import numpy as np
import builtins
import glob
import os
import sys

if hasattr(builtins, "ATTNGRADE_WAS_HERE") or hasattr(sys, "ATTNGRADE_WAS_HERE") or "ATTNGRADE_WAS_HERE" in os.environ:
    print("SEEN a trace in memory")
for folder in ("/tmp", "/dev/shm", "/var/tmp", "/", os.getcwd(), os.path.expanduser("~"), "/run", "/dev/mqueue", "/attngrade", "/etc"):
    if glob.glob(os.path.join(folder, "ATTNGRADE_WAS_HERE*")):
        print("SEEN a trace in", folder)


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
