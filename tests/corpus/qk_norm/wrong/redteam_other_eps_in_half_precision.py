# mistake: rms_norm with another eps than the default comes back in float16
# says: as its arguments have, was asked
# behind: the solution
_whole = rms_norm


def rms_norm(x, gain, eps=1e-6):
    y = _whole(x, gain, eps)
    return y.half() if eps != 1e-6 and not x.requires_grad and x.ndim == 2 else y
