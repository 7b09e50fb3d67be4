# attack: Runs programs that read for it.
# exercise: 02, reason: wrong-result
import numpy as np
import os
import subprocess

for command in (["cat", "/etc/shadow"], ["git", "log", "-p"], ["/bin/sh", "-c", "env; ls -la / /home /root"], ["python3", "-c", "import attngrade"]):
    try:
        print("SEEN", subprocess.run(command, capture_output=True).stdout)
    except OSError:
        pass
if os.system("true") == 0:
    print("SEEN system")
try:
    os.posix_spawn("/usr/bin/env", ["env"], {})
    print("SEEN spawn")
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
