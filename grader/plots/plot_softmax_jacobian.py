"""Softmax getting sharp as logits grow, and its Jacobian dying: the exact curve under the floating-point ones."""

from __future__ import annotations

import numpy as np
from attngrade.plot.picture import Chart, Curve, Picture

SIZE = 8
SCALES = np.geomspace(0.1, 200, 61)


def picture(submission, rng):
    """One fixed direction of logits, sixty scales."""
    logits = np.sort(rng.standard_normal(SIZE))
    logits[-1] = logits[-2] + 1.0  # a clear winner, so that the tail falls like exp(-scale)
    many = SCALES[:, None] * logits
    p = submission.softmax(many).array
    own = submission.jacobian_norm(many).array
    obvious = from_powers(p)
    exact = 10.0 ** exact_log10(many)
    lost = np.flatnonzero(np.abs(obvious / exact - 1) > 0.01)
    since = f"factor {SCALES[lost[0]]:.0f} (largest weight {p[lost[0]].max():.9f})" if lost.size else "no factor shown"
    return Picture(
        "Softmax saturates",
        "Multiply the logits and one weight takes everything; the gradient through softmax then falls exponentially, to nothing that a step could use.",
        (
            Chart("Weights", "factor on the logits", "probability", (
                Curve("largest weight", SCALES, p.max(-1)), Curve("all others together", SCALES, 1 - p.max(-1))),
                  log_x=True),
            Chart("Frobenius norm of the Jacobian", "factor on the logits", "norm", (
                Curve("exact, from logarithms", SCALES, exact), Curve("jacobian_norm", SCALES, own), Curve("the obvious formula in float64", SCALES, obvious)),
                log_x=True, log_y=True),
        ),
        (f"At factor {SCALES[-1]:.0f} the exact norm is {exact[-1]:.1e}; jacobian_norm gives {own[-1]:.1e}.",
         f"The obvious formula, root of sum p^2 + (sum p^2)^2 - 2 sum p^3, is off by more than 1% from {since} on: it subtracts numbers near 1."),
    )


def from_powers(p):
    """The norm from sums of powers: right on paper; near saturation all that is left of the difference is rounding."""
    square = (p**2).sum(-1)
    return np.sqrt(np.maximum(square + square**2 - 2 * (p**3).sum(-1), 0.0))


def exact_log10(z):
    """log10 of the norm, every term in logarithms, so that nothing cancels and nothing underflows."""
    log_p = z - log_sum(z)[..., None]
    log_rest = np.stack([log_sum(np.delete(log_p, i, -1)) for i in range(z.shape[-1])], -1)  # log(1 - p_i)
    diagonal = 2 * (log_p + log_rest)
    i, j = np.triu_indices(z.shape[-1], 1)
    beside = np.log(2) + 2 * (log_p[..., i] + log_p[..., j])
    return 0.5 * log_sum(np.concatenate([diagonal, beside], -1)) / np.log(10)


def log_sum(x):
    """log of the sum of exponentials over the last axis."""
    top = x.max(-1, keepdims=True)
    return np.log(np.exp(x - top).sum(-1)) + top[..., 0]
