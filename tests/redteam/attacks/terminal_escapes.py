# attack: Prints sequences that a terminal obeys: clear, retitle, move up, link, paste.
# exercise: 02, reason: wrong-result
# no-bytes: \x1b \x9b \x07
print("\x1b[2J\x1b[H\x1b]0;passed\x07\x1b[8mhidden\x1b]8;;http://example.com\x07passed\x1b]8;;\x07\x9b1A\r34/34", flush=True)


def act(*_):
    raise ValueError("\x1b[1A\x1b[2Kpassed 34/34\r\x08\x9b")


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
