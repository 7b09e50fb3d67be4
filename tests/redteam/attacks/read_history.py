# attack: Reads version-control history and build caches above every folder it knows.
# exercise: 02, reason: wrong-result
import numpy as np
import os
import sys

for start in (os.getcwd(), os.path.dirname(os.path.abspath(__file__)), sys.prefix, os.path.expanduser("~")):
    folder = start
    while True:
        for name in (".git/HEAD", ".git/index", ".git/packed-refs", "build/lib/attngrade/checks", "solutions", ".pytest_cache/README.md"):
            path = os.path.join(folder, name)
            try:
                print("SEEN", path, os.listdir(path) if os.path.isdir(path) else open(path).read(100))
            except OSError:
                pass
        if folder == os.path.dirname(folder):
            break
        folder = os.path.dirname(folder)


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
