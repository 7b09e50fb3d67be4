# attack: Leaves files that bear the names of libraries beside the submission.
# exercise: 02, reason: wrong-result
import numpy as np
import os

for folder in (".", os.path.dirname(os.path.abspath(__file__)), "/tmp"):
    for name in ("numpy.py", "json.py", "pytest.py", "wire.py", "kernels.py", "struct.py"):
        try:
            open(os.path.join(folder, name), "w").write("import os\nos._exit(0)\n")
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
