"""Log-probabilities from a shifted log-sum-exp; the norm is summed in logarithms, so nothing underflows."""

import numpy as np

TINY = -np.inf


def _log_weights(z, axis=-1):
    z = np.asarray(z)
    wide = z.astype(np.float64) if z.dtype != np.float32 else z
    shifted = wide - wide.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def softmax(z, axis=-1):
    return np.exp(_log_weights(z, axis)).astype(np.asarray(z).dtype, copy=False)


def softmax_jacobian(z):
    log_p = _log_weights(z)
    j = -np.exp(log_p[..., :, None] + log_p[..., None, :])
    places = range(log_p.shape[-1])
    for i in places:
        j[..., i, i] = np.exp(log_p[..., i]) * -np.expm1(log_p[..., i])
    return j.astype(np.asarray(z).dtype, copy=False)


def softmax_vjp(z, grad):
    p = np.exp(_log_weights(z))
    grad = np.asarray(grad, dtype=p.dtype)
    return (p * (grad - np.sum(p * grad, axis=-1, keepdims=True))).astype(np.asarray(z).dtype, copy=False)


def _log_sum(a, axis=-1):
    top = a.max(axis=axis, keepdims=True)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.squeeze(safe + np.log(np.exp(a - safe).sum(axis=axis, keepdims=True)), axis=axis)


def jacobian_norm(z):
    wide = np.sort(np.asarray(z).astype(np.float64), axis=-1)
    if wide.shape[-1] == 1:
        return np.zeros(wide.shape[:-1], dtype=np.asarray(z).dtype)
    log_p = _log_weights(wide)
    top, others = log_p[..., -1], log_p[..., :-1]
    rest = _log_sum(others)  # log of the sum of all others
    with np.errstate(divide="ignore"):
        own = 2 * (others + np.log1p(-np.exp(others)))
        cross = _log_sum(2 * others)
        pairs = np.maximum(np.exp(2 * cross - 4 * rest) - np.exp(_log_sum(4 * others) - 4 * rest), 0)
        terms = [2 * (top + rest), _log_sum(own), np.log(2.0) + 2 * top + cross, np.log(pairs) + 4 * rest]
    return np.exp(0.5 * _log_sum(np.stack(terms, axis=-1))).astype(np.asarray(z).dtype)
