# attack: Messages full of markup for pages, spreadsheets and feeds.
# exercise: 02, reason: wrong-result
def act(*_):
    raise ValueError("<script>alert(1)</script><img src=x onerror=alert(1)>]]>&#0;=cmd|' /C calc'!A0\x00\x0b")


def softmax(z, axis=-1):
    return act(z)


def softmax_jacobian(z):
    return act(z)


def softmax_vjp(z, grad):
    return act(z, grad)


def jacobian_norm(z):
    return act(z)
