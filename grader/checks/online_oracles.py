"""What is right in exercise 06, in NumPy and float64 from the formulas, and the inputs that its checks ask about."""

import numpy as np
from attngrade.checks.claims import flipped

TOLERANCE = {"float64": 1e-9, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}
LAYOUTS = [("(B, T, H, Dh)", {"order": (0, 2, 1, 3)}), ("padded rows", {"gap": 3}), ("(T, B, H, Dh), padded", {"order": (2, 0, 1, 3), "gap": 5})]


def offset(t_q, t_k):
    """The key that the first query sits on: the last query sits on the last key, or the first on the first where that is asked."""
    return 0 if flipped("causal-alignment") else t_k - t_q


def visible(t_q, t_k):
    """True where query i may see key j: j <= i + (t_k - t_q)."""
    return np.arange(t_k)[None, :] <= np.arange(t_q)[:, None] + offset(t_q, t_k)


def scores(q, k, causal=False):
    """Scaled scores, -inf where hidden."""
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    return np.where(visible(*s.shape[-2:]), s, -np.inf) if causal else s


def state(s, v):
    """The softmax state of keys with scores s (..., n) and values v (..., n, Dh)."""
    m = s.max(-1, initial=-np.inf)
    p = np.exp(s - np.where(np.isfinite(m), m, 0.0)[..., None])
    return m, p.sum(-1), (p[..., None, :] @ v)[..., 0, :]


def nothing(shape, width):
    """The state of no keys at all."""
    return np.full(shape, -np.inf), np.zeros(shape), np.zeros((*shape, width))


def merged(a, b):
    """The state of the union."""
    m = np.maximum(a[0], b[0])
    at = np.where(np.isfinite(m), m, 0.0)
    f, g = np.exp(a[0] - at), np.exp(b[0] - at)
    return m, a[1] * f + b[1] * g, a[2] * f[..., None] + b[2] * g[..., None]


def attention(q, k, v, causal=False):
    """Outputs and log-normalisers; 0 and -inf for a query that sees nothing."""
    q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
    s = scores(q, k, causal)
    m, l, _ = state(s, np.zeros((*s.shape[:-2], 1, s.shape[-1], 1)))
    p = np.exp(s - np.where(np.isfinite(m), m, 0.0)[..., None])
    safe = np.where(l > 0, l, 1.0)
    return p @ v / safe[..., None], m + np.log(safe)


def pulled_back(q, k, v, causal, up_out, up_lse):
    """Gradients for q, k and v of (up_out . out + up_lse . lse), by hand."""
    s = scores(q, k, causal)
    out, lse = attention(q, k, v, causal)
    p = np.exp(s - np.where(np.isfinite(lse), lse, 0.0)[..., None])
    inner = (up_out * out).sum(-1) - np.where(np.isfinite(lse), up_lse, 0.0)
    to_s = p * (up_out @ v.swapaxes(-1, -2) - inner[..., None]) / np.sqrt(q.shape[-1])
    return to_s @ k, to_s.swapaxes(-1, -2) @ q, p.swapaxes(-1, -2) @ up_out


def as_held(x, dtype):
    """The values that a tensor of this dtype holds; bfloat16 gets thirty-seconds, which it holds exactly up to 4."""
    if dtype == "bfloat16":
        return np.clip(np.round(x * 32) / 32, -4, 4)
    return np.asarray(x).astype(dtype).astype(np.float64)


def qkv(rng, t_q, t_k, *, batch=2, heads=3, width=5, dtype="float64", size=1.0):
    """Queries, keys and values, normal, as a tensor of ``dtype`` holds them."""
    return tuple(as_held(size * rng.standard_normal((batch, heads, t, width)), dtype) for t in (t_q, t_k, t_k))


def level(rng, width, heads=16):
    """One query and two keys a head, with scores of about 200 that are equal to within the rounding of float16, and values of either sign: whatever is off in a score shows."""
    first, second = as_held(rng.uniform(50, 60, (2, heads)), "float16")
    q, k, v = np.zeros((1, heads, 1, width)), np.zeros((1, heads, 2, width)), rng.uniform(0.5, 1, (1, heads, 2, width))
    q[0, :, 0, 0], q[0, :, 0, 1] = first, second
    k[0, :, 0, 0], k[0, :, 1, 1] = 3.6 * np.sqrt(width), first / second * 3.6 * np.sqrt(width)
    v[:, :, 1] *= -1
    return tuple(as_held(x, "float16") for x in (q, k, v))


def steered(rng, wanted, width, *, batch=1, heads=2, t_q=3, dtype="float32"):
    """Inputs whose scaled scores are ``wanted`` (one per key, the same for every query), up to rounding in k; values are normal."""
    q = np.zeros((batch, heads, t_q, width))
    q[..., 0] = 4.0
    k = 0.25 * rng.standard_normal((batch, heads, len(wanted), width))
    k[..., 0] = np.asarray(wanted) * np.sqrt(width) / 4.0
    v = rng.standard_normal((batch, heads, len(wanted), width))
    return tuple(as_held(x, dtype) for x in (q, k, v))


def crumbs(first=600, late=3000, score=-6.3, width=16):
    """Many keys of weight 1, then more of weight 0.002: a sum in half precision is too coarse by then to take them in, tile by tile."""
    q, k, v = np.zeros((1, 1, 1, width)), np.zeros((1, 1, first + late, width)), np.ones((1, 1, first + late, width))
    q[..., 0], k[:, :, first:, 0] = 2.0, score * np.sqrt(width) / 2.0
    v[:, :, :first, ::2], v[:, :, first:, ::2] = 0.0, 100.0
    return tuple(as_held(x, "float16") for x in (q, k, v))


def rising(n, last):
    """Scores that rise from key to key: every block has a new maximum."""
    return np.linspace(last - 100.0, last, n)


def peak_at(place, n, top):
    """Scores near ``top - 100`` with one key at ``top``."""
    wanted = np.full(n, top - 100.0) + np.cos(np.arange(n))
    wanted[place] = top
    return wanted
