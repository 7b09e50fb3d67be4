import numpy as np

_COMPUTE = {np.dtype("float16"): np.dtype("float32")}


def _compute(z):
    z = np.asarray(z)
    if z.ndim < 1:
        raise ValueError("z: rank 0, at least rank 1 is needed")
    return z.astype(_COMPUTE.get(z.dtype, z.dtype), copy=True)


def softmax(z, axis=-1):
    if np.size(z) == 0:
        raise ValueError("softmax: z is empty")
    work = np.moveaxis(_compute(z), axis, -1)
    work = work - np.max(work, -1)[..., np.newaxis]
    work = np.exp(work)
    work = work / np.einsum("...i->...", work)[..., np.newaxis]
    return np.moveaxis(work, -1, axis).astype(np.asarray(z).dtype)


def softmax_jacobian(z):
    if np.size(z) == 0:
        raise ValueError("softmax_jacobian: z is empty")
    p = softmax(_compute(z))
    eye = np.eye(p.shape[-1], dtype=p.dtype)
    return (np.einsum("...i,ij->...ij", p, eye) - np.einsum("...i,...j->...ij", p, p)).astype(np.asarray(z).dtype)


def softmax_vjp(z, grad):
    if np.size(z) == 0:
        raise ValueError("softmax_vjp: z is empty")
    z, grad = np.asarray(z), np.asarray(grad)
    if z.shape != grad.shape:
        raise ValueError(f"z has shape {z.shape}, grad has shape {grad.shape}")
    p, g = softmax(_compute(z)), _compute(grad)
    return np.asarray(p * g - np.einsum("...,...i->...i", np.einsum("...i,...i->...", p, g), p)).astype(z.dtype)


def jacobian_norm(z):
    if np.size(z) == 0:
        raise ValueError("jacobian_norm: z is empty")
    z = np.asarray(z)
    work = np.sort(_compute(z).astype(np.float64), axis=-1)  # the largest comes last
    e = np.exp(work - work[..., -1:])
    small = e[..., :-1]
    total = np.einsum("...i->...", small)
    share = small / np.where(total > 0, total, 1)[..., None]
    q = total / (1 + total)  # everything but the largest
    p = 1 / (1 + total)
    b2 = np.einsum("...i,...i->...", share, share)
    b3 = np.einsum("...i,...i,...i->...", share, share, share)
    # |J|^2 = p^2 (q^2 + B2) + sum_j b_j^2 ((1 - b_j)^2 + p^2 + B2 - b_j^2),  b = q share
    inside = p**2 * (1 + b2) + b2 * (1 + p**2) - 2 * q * b3 + q**2 * b2**2
    return np.asarray(q * np.sqrt(inside)).astype(z.dtype)[()]
