"""Score spread against width: with and without the scale, and with correlated queries and keys."""

from __future__ import annotations

import numpy as np
from attngrade.checks.claims import generator, number
from attngrade.plot.picture import Chart, Curve, Picture

WIDTHS = [2**power for power in range(11)]
DRAWS = 2000
CORRELATION = 0.5


def picture(submission, rng):
    """Spread of sampled scores, and root mean square of correlated ones, over eleven widths."""
    bare, scaled, predicted, rooted, right = [], [], [], [], []
    for width in WIDTHS:
        seed = int(rng.integers(2**31))
        scale = number(submission.unit_rms_scale(width))
        bare.append(float(np.std(submission.sample_scores(generator(seed), DRAWS, width).array)))
        scaled.append(float(np.std(submission.sample_scores(generator(seed + 1), DRAWS, width, scale).array)))
        predicted.append(number(submission.score_moments(width)[1]) ** 0.5)
        size = float(np.sqrt(np.mean(correlated(rng, width) ** 2)))
        rooted.append(size * width**-0.5)
        right.append(size * number(submission.unit_rms_scale(width, CORRELATION)))
    last = WIDTHS[-1]
    return Picture(
        "How far scores spread",
        "A score is a sum over the head width, so its spread grows like the root of the width, and one factor takes that away.",
        (
            Chart("Independent q and k", "width d_k", "standard deviation of sampled scores", (
                Curve("no scale, sampled", WIDTHS, bare), Curve("with the scale for correlation 0, sampled", WIDTHS, scaled),
                Curve("root of the variance from score_moments", WIDTHS, predicted)), log_x=True, log_y=True),
            Chart(f"q and k that agree: correlation {CORRELATION}", "width d_k", "root mean square of scores", (
                Curve("scale d_k ** -0.5: grows again", WIDTHS, rooted), Curve(f"unit_rms_scale(d_k, {CORRELATION}): stays", WIDTHS, right)),
                log_x=True, log_y=True),
        ),
        (f"At d_k = {last}: {bare[-1]:.1f} without the scale, {scaled[-1]:.2f} with it.",
         f"Correlated by {CORRELATION}: {rooted[-1]:.1f} under 1/sqrt(d_k), {right[-1]:.2f} under the scale that falls like 1/d_k."),
    )


def correlated(rng, width):
    """Scores of keys that lean towards their queries."""
    q = rng.standard_normal((DRAWS, width))
    k = CORRELATION * q + (1 - CORRELATION**2) ** 0.5 * rng.standard_normal((DRAWS, width))
    return (q * k).sum(-1)
