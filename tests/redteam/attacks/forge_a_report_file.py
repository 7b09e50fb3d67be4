# attack: Writes forged reports to every place where a real one might be looked for.
# exercise: 02, reason: crash
import numpy as np
import os

TEXT = '{"score": 34.0, "max_score": 34.0, "verdict": "passed", "tests": [{"name": "all", "score": 34, "max_score": 34, "status": "passed"}]}'
for path in ("results.json", "/autograder/results/results.json", "/grade/results/results.json", "/tmp/results.json", "/tmp/ATTNGRADE_WAS_HERE", "report.xml",
             os.path.expanduser("~/.local/share/attngrade/attngrade.db"), "/dev/stdout", "/proc/1/fd/1"):
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        open(path, "w").write(TEXT)
    except OSError:
        pass
os._exit(0)


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
