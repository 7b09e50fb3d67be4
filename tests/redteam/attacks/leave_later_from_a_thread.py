# attack: A timer thread ends the process between two checks.
# exercise: 02, reason: crash
# says: ended its process
import os
import threading
import time

threading.Timer(0.05, os._exit, (0,)).start()


def act(*_):
    time.sleep(0.2)


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
