# attack: Makes system calls by the numbers of another machine.
# exercise: 02, reason: crash|wrong-result
# says: SIG(SYS|SEGV)|None
import ctypes
import mmap


def act(*_):
    code = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes([0xB8, 0x02, 0, 0, 0, 0xCD, 0x80, 0xC3]))  # mov eax, 2 (fork); int 0x80; ret
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    if ctypes.CFUNCTYPE(ctypes.c_int)(address)() >= 0:
        print("SEEN fork by int 0x80")


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
