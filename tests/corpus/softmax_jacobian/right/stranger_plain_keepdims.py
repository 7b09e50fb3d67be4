import numpy as np


def _widen(z, name="z"):
    z = np.asarray(z)
    if z.ndim == 0:
        raise ValueError(f"{name} must have at least one axis")
    if z.dtype == np.float16:
        return z.astype(np.float32)
    if z.dtype.kind != "f":
        return z.astype(np.float64)
    return z


def _narrow(result, z):
    dtype = np.asarray(z).dtype
    return result.astype(dtype, copy=False) if dtype.kind == "f" else result


def softmax(z, axis=-1):
    if np.size(z) == 0:
        raise ValueError("softmax: z is empty")
    wide = _widen(z)
    if not -wide.ndim <= axis < wide.ndim:
        raise ValueError(f"axis {axis} is out of range for rank {wide.ndim}")
    with np.errstate(over="ignore", under="ignore"):
        e = np.exp(wide - wide.max(axis=axis, keepdims=True))
    return _narrow(e / e.sum(axis=axis, keepdims=True), z)


def softmax_jacobian(z):
    if np.size(z) == 0:
        raise ValueError("softmax_jacobian: z is empty")
    p = softmax(_widen(z))
    jacobian = -p[..., :, None] * p[..., None, :]
    i = np.arange(p.shape[-1])
    jacobian[..., i, i] = p * (1 - p)
    return _narrow(jacobian, z)


def softmax_vjp(z, grad):
    if np.size(z) == 0:
        raise ValueError("softmax_vjp: z is empty")
    wide, g = _widen(z), _widen(grad, "grad")
    if wide.shape != g.shape:
        raise ValueError(f"grad {g.shape} must have the shape of z {wide.shape}")
    p = softmax(wide)
    inner = (p * g).sum(axis=-1, keepdims=True)
    return _narrow(p * (g - inner), z)


def jacobian_norm(z):
    if np.size(z) == 0:
        raise ValueError("jacobian_norm: z is empty")
    wide = _widen(z).astype(np.float64)
    n = wide.shape[-1]
    top = np.argmax(wide, axis=-1)[..., None]
    with np.errstate(over="ignore", under="ignore"):
        e = np.exp(wide - np.take_along_axis(wide, top, axis=-1))
    np.put_along_axis(e, top, 0.0, axis=-1)
    others = e.sum(axis=-1, keepdims=True)
    u = e / np.where(others == 0, 1.0, others)  # the others, normalised among themselves
    rest = others / (1 + others)
    p = u * rest
    p_top = 1 / (1 + others)
    squares = (u**2).sum(axis=-1, keepdims=True)
    first = p_top**2 * (1 + squares)
    second = (u**2 * ((1 - p) ** 2 + p_top**2 + rest**2 * squares - p**2)).sum(axis=-1, keepdims=True)
    norm = (rest * np.sqrt(first + second))[..., 0]
    return norm.astype(np.asarray(z).dtype) if np.asarray(z).dtype.kind == "f" else norm
