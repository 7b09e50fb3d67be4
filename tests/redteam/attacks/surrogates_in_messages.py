# attack: Messages with halves of characters that no encoding takes.
# exercise: 02, reason: wrong-result
print("\udc80\ud800".encode("utf-8", "surrogatepass"))


def act(*_):
    raise type("Err\ud800", (Exception,), {})("\ud800\udfff")


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
