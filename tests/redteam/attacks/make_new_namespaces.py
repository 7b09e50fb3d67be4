# attack: Makes itself root in a namespace of its own and mounts the world.
# exercise: 02, reason: wrong-result
import numpy as np
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
for flags in (0x10000000, 0x10020000, 0x20000, 0x7E020000):
    if libc.unshare(flags) == 0:
        print("SEEN unshare", flags)
for pid in (1, os.getppid()):
    for kind in ("mnt", "user", "pid", "net"):
        try:
            fd = os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY)
            if libc.setns(fd, 0) == 0:
                print("SEEN setns", kind)
        except OSError:
            pass
if libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0:
    print("SEEN mount")
if libc.chroot(b"/tmp") == 0:
    print("SEEN chroot")
if libc.umount2(b"/tmp", 2) == 0:
    print("SEEN umount")


def softmax(z, axis=-1):
    return np.zeros_like(z)


def softmax_jacobian(z):
    return np.zeros((*z.shape, z.shape[-1]), z.dtype)


def softmax_vjp(z, grad):
    return np.zeros_like(grad)


def jacobian_norm(z):
    return np.zeros(z.shape[:-1], z.dtype)
