# attack: Overflows the native stack by recursion without a limit.
# exercise: 02, reason: crash
# says: SIG(SEGV|BUS|ABRT)
import sys

sys.setrecursionlimit(10**9)


def act(*given):
    return sorted([given, given], key=lambda x: act(*given))


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
