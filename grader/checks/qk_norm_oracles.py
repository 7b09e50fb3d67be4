"""What the claims of exercise 05 have in common: oracles written from the formulas, inputs, comparisons."""

import numpy as np
from attngrade.checks.claims import Result, claim, expect, expect_number, tensor

NARROW = [("float32", 1e-3), ("float16", 0.1), ("bfloat16", 0.2)]  # how far a gradient may be off: that it is there and no other is what counts
GAINS = ("q_gain", "k_gain", "gain")
ANY = ("q", "k", "x", "head_dim", *GAINS)  # where several arguments disagree, the name of any one of them will do
NAMES = ("q", "k", "q_gain", "k_gain")


def norm(x, gain=1.0, eps=1e-6):
    return x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps) * gain


def norms(q, k, gain_pair=(1.0, 1.0), eps=1e-6):
    return norm(q, gain_pair[0], eps), norm(k, gain_pair[1], eps)


def norm_pullback(x, gain, upstream, eps=1e-6):
    """Gradients for x and for gain of sum(upstream * norm(x, gain, eps))."""
    inverse = 1 / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps)
    inner = upstream * gain
    for_x = inverse * inner - x * inverse**3 * np.mean(inner * x, axis=-1, keepdims=True)
    return for_x, (upstream * x * inverse).reshape(-1, x.shape[-1]).sum(axis=0)


def scaled_dots(q, k, gain_pair=(1.0, 1.0), eps=1e-6):
    q_hat, k_hat = norms(q, k, gain_pair, eps)
    return q_hat @ k_hat.swapaxes(-1, -2) / np.sqrt(q.shape[-1])


def logits_pullback(q, k, gain_pair, upstream):
    """Gradients of upstream . logits for q, k and both gains, by hand."""
    q_hat, k_hat = norms(q, k, gain_pair)
    scale = q.shape[-1] ** -0.5
    for_q, for_q_gain = norm_pullback(q, gain_pair[0], upstream @ k_hat * scale)
    for_k, for_k_gain = norm_pullback(k, gain_pair[1], upstream.swapaxes(-1, -2) @ q_hat * scale)
    return for_q, for_k, for_q_gain, for_k_gain


def least_bound(q_gain, k_gain):
    return float(np.sqrt(q_gain.size) * np.abs(q_gain * k_gain).max())


def mean_jacobian_norm(logits):
    p = np.exp(logits - logits.max(axis=-1, keepdims=True))
    p = p / p.sum(axis=-1, keepdims=True)
    jacobian = p[..., :, None] * (np.eye(p.shape[-1]) - p[..., None, :])
    return float(np.sqrt((jacobian**2).sum(axis=(-2, -1))).mean())


def stored(values, dtype):
    """The argument in that dtype, and the float64 values that it really holds."""
    if dtype == "bfloat16":
        exact = (np.asarray(values, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        return tensor(exact, dtype="bfloat16"), exact.astype(np.float64)
    exact = np.asarray(values).astype(dtype)
    return exact, exact.astype(np.float64)


def drawn_gains(rng, width):
    """Two gains with both signs, none of them near 0 or 1, that float32 holds exactly."""
    signs = rng.choice([-1.0, 1.0], (2, width))
    return (signs * rng.uniform(1.25, 3.0, (2, width))).astype(np.float32).astype(np.float64)


def drawn_pair(rng, b, h, t_q, t_k, width):
    return rng.standard_normal((b, h, t_q, width)), rng.standard_normal((b, h, t_k, width))


def drawn_triple(rng, dtype, shape):
    """x, a gain and an upstream gradient in that dtype, each with the values that it really holds."""
    return (stored(values, dtype) for values in (rng.standard_normal(shape) + 0.5, drawn_gains(rng, shape[-1])[0], rng.standard_normal(shape)))


def around(rng, size, *shape):
    """Values of about one size and both signs."""
    return size * rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape)


def load(module, gain_pair):
    module.load({name: gain.astype(np.float32) for name, gain in zip(("q_gain", "k_gain"), gain_pair, strict=True)})
    return module


def same(got, want, **about):
    """``expect``, for a tensor."""
    expect(got, want, **about)
    claim(got.kind == "tensor", f"The result is a {got.kind}; a torch tensor is asked", got=got, want="tensor", case=about.get("case", ""))


def same_pair(result, wants, *, case, **about):
    """A tuple of two tensors, q_hat and k_hat."""
    for got, want, name in zip(two(result, case), wants, ("q_hat", "k_hat"), strict=True):
        same(got, want, case=f"{name}, {case}", **about)


def two(result, case):
    pair = isinstance(result, tuple) and len(result) == 2
    sort = getattr(result, "kind", type(result).__name__)
    what = f"a {sort} of {len(result)}" if isinstance(result, (tuple, list)) else f"a {sort}"
    claim(pair, f"QKNorm's forward came back with {what}; the tuple (q_hat, k_hat) is asked", got=what, want="a tuple of 2", case=case)
    return result


def same_gradients(grads, wants, names, case="", tol=None):
    for got, want, name in zip(grads, wants, names, strict=True):
        claim(got is not None, f"No gradient reaches {name}", want="a gradient", case=case)
        expect(got, want, tol=tol, scale=max(1.0, np.abs(want).max()), case=f"gradient for {name}" + (f", {case}" if case else ""))


def finite_at_zeros(grad, want, x):
    """The right gradient; for a vector of zeros, where a right norm may pass on less than its formula does, any finite one."""
    found = grad.array if isinstance(grad, Result) and grad.array.shape == want.shape else np.full(want.shape, np.nan)
    return np.where((x == 0).all(-1, keepdims=True) & np.isfinite(found), found, want)


def listed(names):
    return ", ".join(sorted(names)) or "none at all"


def same_saturation(got, logits, *, rel, case):
    want = mean_jacobian_norm(logits)
    expect_number(got, want, rel=rel, atol=1e-3 if want < 1e-3 else 0.0, case=case)


def values(got, shape, case):
    """The numbers of a tensor of that shape."""
    fits = getattr(got, "kind", "") == "tensor" and got.shape == tuple(shape)
    claim(fits, f"The result must be a tensor of shape {tuple(shape)}", got=getattr(got, "shape", type(got).__name__), want=tuple(shape), case=case)
    return got.array.astype(np.float64)
