"""Logit size over a short training with growing weights, with and without QK-norm."""

from __future__ import annotations

import numpy as np
from attngrade.checks.claims import number
from attngrade.plot.picture import Chart, Curve, Picture

TOKENS, WIDTH, STEPS = 8, 8, 48
GROWTH = 1.12  # what each step multiplies the weights by, on top of its gradient: the drift that a large learning rate brings
RATE = 0.5


def picture(submission, rng):
    """Two trainings from the same weights towards the same targets; in one, gradients come through qk_norm_logits."""
    x = rng.standard_normal((TOKENS, WIDTH))
    start = [rng.standard_normal((WIDTH, WIDTH)) * WIDTH**-0.5 for _ in range(2)]
    target = np.eye(TOKENS)[rng.permutation(TOKENS)]
    gain = np.ones(WIDTH)
    bound = number(submission.logit_bound(gain, gain))
    plain = training(submission, x, start, target, through_nothing)
    normed = training(submission, x, start, target, lambda q, k, want: through_norm(submission, q, k, gain, want))
    steps = list(range(STEPS))
    return Picture(
        "Logits that no weight can blow up",
        "As weights grow, plain logits grow with their square and the softmax saturates; normalised ones stay below a bound that only the gains set.",
        (
            Chart("Largest logit", "step (weights grow by 12% each)", "max |logit|", (
                Curve("without QK-norm", steps, plain[0]), Curve("with QK-norm", steps, normed[0]), Curve("logit_bound", steps, [bound] * STEPS)), log_y=True),
            Chart("Saturation: norm of the softmax Jacobian", "step", "mean norm", (
                Curve("without QK-norm", steps, plain[1]), Curve("with QK-norm", steps, normed[1]))),
        ),
        (f"After {STEPS} steps: |logit| up to {plain[0][-1]:.0f} without, {normed[0][-1]:.2f} with, bound {bound:.2f}.",
         f"Jacobian norm: {plain[1][-1]:.2g} without, {normed[1][-1]:.2f} with: the one has nothing left to learn with."),
    )


def training(submission, x, start, target, logits_of):
    """Largest logit and saturation at every step of gradient descent on the two projections."""
    w_q, w_k = start
    sizes, alive = [], []
    for _ in range(STEPS):
        logits, d_q, d_k = logits_of(x @ w_q, x @ w_k, target)
        sizes.append(float(np.abs(logits).max()))
        alive.append(number(submission.saturation(logits)))
        w_q, w_k = GROWTH * (w_q - RATE * x.T @ d_q / TOKENS), GROWTH * (w_k - RATE * x.T @ d_k / TOKENS)
    return sizes, alive


def slope(logits, target):
    """Gradient of the cross-entropy."""
    p = np.exp(logits - logits.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) - target


def through_nothing(q, k, target):
    """Plain scaled logits and the gradients of q and k."""
    logits = q @ k.T * WIDTH**-0.5
    d = slope(logits, target) * WIDTH**-0.5
    return logits, d @ k, d.T @ q


def through_norm(submission, q, k, gain, target):
    """The same through the submission: its logits, its gradients."""
    arguments = (q[None, None], k[None, None], gain, gain)
    logits = submission.qk_norm_logits(*arguments).array
    _, (d_q, d_k) = submission.vjp("qk_norm_logits", *arguments, wrt=(0, 1), cotangent=slope(logits, target[None, None]))
    return logits[0, 0], d_q.array[0, 0], d_k.array[0, 0]
