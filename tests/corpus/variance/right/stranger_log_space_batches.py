import math

import numpy as np

BATCH = 1 << 10


def _explain(name, value, wanted):
    raise ValueError(
        f"The argument {name} was {value!r}. It needs to be {wanted}, because the formula has no meaning otherwise. "
        f"Please call the function again with another {name}."
    )


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    if var_q < 0:
        _explain("var_q", var_q, "0 or more")
    if var_k < 0:
        _explain("var_k", var_k, "0 or more")
    if d_k < 1:
        _explain("d_k", d_k, "1 or more")
    sd_q, sd_k = math.sqrt(var_q), math.sqrt(var_k)
    root = math.hypot(sd_q * sd_k, sd_q * mean_k, sd_k * mean_q)
    return math.prod((d_k, mean_q, mean_k)), d_k * root**2


def sample_scores(rng, n, d_k, scale=1.0):
    if d_k < 1:
        _explain("d_k", d_k, "1 or more")
    if n < 0:
        _explain("n", n, "0 or more")
    pieces = [np.zeros(0)]
    for start in range(0, n, BATCH):
        rows = min(BATCH, n - start)
        q, k = rng.standard_normal((rows, d_k)), rng.standard_normal((rows, d_k))
        pieces.append((q[:, None, :] @ k[:, :, None])[:, 0, 0])
    return np.concatenate(pieces) * scale


def variance_z_score(scores, predicted_variance):
    x = np.asarray(scores).astype(np.float64).ravel()
    if x.size < 2:
        _explain("scores", scores, "two numbers or more")
    if predicted_variance < 0:
        _explain("predicted_variance", predicted_variance, "0 or more")
    d = x - x[0]
    d -= d.mean()
    s2 = d @ d / (d.size - 1)
    fluctuation = np.sqrt(np.var(d * d) / d.size)
    gap = s2 - predicted_variance
    if fluctuation <= 1e-13 * s2:
        return 0.0 if abs(gap) <= 1e-13 * s2 else math.copysign(math.inf, gap)
    return gap / fluctuation


def unit_rms_scale(d_k, correlation=0.0):
    if not abs(correlation) <= 1:
        _explain("correlation", correlation, "between -1 and 1")
    if d_k < 1:
        _explain("d_k", d_k, "1 or more")
    return math.exp(-0.5 * (math.log(d_k) + math.log1p((d_k + 1) * correlation**2)))
