# attack: Looks in the packages folders for the grader, its wheel, its byte code and its history.
# exercise: 02, reason: wrong-result
import numpy as np
import glob
import sys

for folder in sys.path:
    for pattern in ("attngrade/**/*.py", "attngrade/**/*.pyc", "**/check_*.py", "**/exercise0*.py", "*.whl", "**/misconceptions/*"):
        for path in glob.glob(f"{folder}/{pattern}", recursive=True):
            if any(word in path for word in ("attngrade", "exercise0", "causal", "softmax_jacobian")):
                print("SEEN", path, open(path, "rb").read()[:500])


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
