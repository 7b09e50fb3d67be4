# attack: Starts threads without end.
# exercise: 02, reason: memory|wrong-result|timeout, timeout: 5
# says: thread|time limit
import threading
import time


def act(*_):
    while True:
        threading.Thread(target=time.sleep, args=(300,), daemon=True).start()


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
