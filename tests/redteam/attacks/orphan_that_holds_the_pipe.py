# attack: A grandchild in a session of its own keeps the channel open after everybody else is gone.
# exercise: 02, reason: crash|wrong-result|timeout, timeout: 4
import os
import time


def act(*_):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(300)
        os._exit(0)
    os._exit(0)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
