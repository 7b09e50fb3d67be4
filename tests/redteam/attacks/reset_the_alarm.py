# attack: Takes the alarm away on which a time limit inside the process would rest.
# exercise: 02, reason: timeout, timeout: 1
# says: time limit
import signal
import time

signal.setitimer(signal.ITIMER_REAL, 0)
signal.signal(signal.SIGALRM, lambda *_: None)


def act(*_):
    signal.alarm(0)
    time.sleep(60)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
