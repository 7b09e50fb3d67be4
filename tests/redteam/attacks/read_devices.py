# attack: Opens the raw disk, the memory and the log of the machine.
# exercise: 02, reason: wrong-result
import numpy as np
import glob

for path in ["/dev/mem", "/dev/kmem", "/dev/kmsg", "/dev/port", "/dev/tty", "/dev/console", *glob.glob("/dev/sd*"), *glob.glob("/dev/vd*"), *glob.glob("/dev/nvme*")]:
    try:
        with open(path, "rb", buffering=0) as file:
            print("SEEN", path, file.read(1))
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
