# mistake: softmax of anything with more than two axes comes back in float16, three digits of the nine that are asked
# says: as its arguments have, was asked
"""Exercise 02, softmax Jacobian: the gradient that dies when scores grow.

    p_i      = exp(z_i) / sum over j of exp(z_j)
    dp_i/dz_j = p_i * (1[i = j] - p_j)                   J = diag(p) - p p^T, symmetric

Shapes: z (..., n), with any number of leading axes, none included. NumPy and nothing else.
Results have z's dtype; float16 is computed in float32 and cast back once. No argument is changed.

softmax must survive any finite z (up to 1e300 in size) and entries of -inf, which get weight exactly 0, as
long as one entry on the axis is finite. The other functions meet finite z alone.

Off limits: scipy.special.softmax, scipy.special.log_softmax, torch, automatic or numerical
differentiation packages.

Check: attngrade check exercise02      Help: attngrade hint exercise02
"""

import numpy as np


def widen(z):
    """z as an array of at least float32."""
    z = np.asarray(z)
    return z.astype(np.result_type(z.dtype, np.float32))


def narrow(result, z):
    """A result in z's own floating dtype."""
    return result.astype(np.result_type(np.asarray(z).dtype, np.float16), copy=False)


def _whole(z, axis=-1):
    """Return the softmax of z along one axis, in z's shape."""
    wide = widen(z)
    weights = np.exp(wide - wide.max(axis=axis, keepdims=True))
    return narrow(weights / weights.sum(axis=axis, keepdims=True), z)


def softmax_jacobian(z):
    """Return J (..., n, n) with J[..., i, j] = dp_i / dz_j."""
    p = _whole(widen(z))  # (..., n)
    jacobian = -p[..., :, None] * p[..., None, :]  # (..., n, n)
    i = np.arange(p.shape[-1])
    jacobian[..., i, i] += p
    return narrow(jacobian, z)


def softmax_vjp(z, grad):
    """Return the vector J^T grad, (..., n), for grad (..., n); n = 100_000 must fit, so no n x n array anywhere."""
    p, grad = _whole(widen(z)), widen(grad)  # (..., n)
    if p.shape != grad.shape:
        raise ValueError(f"grad must have z's shape {p.shape}, got {grad.shape}")
    shared = (p * grad).sum(axis=-1, keepdims=True)  # (..., 1)
    return narrow(p * (grad - shared), z)


def jacobian_norm(z):
    """Return the Frobenius norm of J, shaped (...), in memory linear in n.

    Required (float64): 1e-6 where the largest probability is below 0.99. Stretch: 1e-9 however saturated, down to 1e-300.
    """
    wide = widen(z)
    top = wide.argmax(axis=-1)[..., None]
    others = np.exp(wide - np.take_along_axis(wide, top, axis=-1))  # (..., n), the largest is 1
    np.put_along_axis(others, top, 0.0, axis=-1)
    rest = others.sum(axis=-1)  # (...)
    share = others / np.where(rest > 0, rest, 1.0)[..., None]  # (..., n), the others among themselves
    p_top, p_rest = 1 / (1 + rest), rest / (1 + rest)
    w2, w3 = (share**2).sum(axis=-1), (share**3).sum(axis=-1)
    # ||J||^2 = p_rest^2 * (p_top^2 + 2 p_top^2 w2 + w2 - 2 p_rest w3 + p_rest^2 w2^2): no term is small against the sum
    return narrow(p_rest * np.sqrt(p_top**2 * (1 + 2 * w2) + w2 - 2 * p_rest * w3 + (p_rest * w2) ** 2), z)



def softmax(z, axis=-1):
    p = _whole(z, axis)
    return p.astype(np.float16) if z.ndim > 2 and z.dtype == np.float64 else p
