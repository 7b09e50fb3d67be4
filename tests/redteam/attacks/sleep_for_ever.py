# attack: Sleeps, with every signal ignored that can be.
# exercise: 02, reason: timeout, timeout: 1
# says: time limit
import signal
import time

for number in signal.valid_signals():
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass


def act(*_):
    while True:
        time.sleep(1)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
