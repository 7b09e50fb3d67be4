"""What people get wrong in exercise 01 when they draw scores: where the randomness comes from, in which form the scores come back, what is refused."""

import functools

import numpy as np
from attngrade.misconceptions import misconception
from attngrade.misconceptions.variance_draws import normal, refuse_sample, scores_of

__all__: list[str] = []  # filled by `draws`: every misconception below


def draws(name, **options):
    """A misconception of sample_scores, exported."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="sample_scores", at="statistics", **options)(code)

    return mark


# ---------------------------------------------------------------- not from the generator


@draws("draws-own-fixed-seed")
def fixed_seed(rng, n, d_k, scale=1.0):
    """You draw from a generator of your own with a fixed seed; all randomness must come from `rng`.

    Example: two generators with different seeds give the same scores.
    Why: the caller decides about seeds; with yours every sample is the same sample.
    Look at: `np.random.default_rng(...)` inside the function.
    """
    refuse_sample(n, d_k)
    return scores_of(*normal(np.random.default_rng(0), n, d_k), scale)


@draws("draws-own-generator")
def own_generator(rng, n, d_k, scale=1.0):
    """You draw from a generator of your own, seeded by the operating system; all randomness must come from `rng`.

    Example: the same generator state gives other scores every time.
    Why: nobody can repeat your sample.
    Look at: `np.random.default_rng()` inside the function.
    """
    refuse_sample(n, d_k)
    return scores_of(*normal(np.random.default_rng(), n, d_k), scale)


@draws("draws-keys-from-elsewhere")
def keys_elsewhere(rng, n, d_k, scale=1.0):
    """Your queries come from `rng`, your keys from a generator of your own with a fixed seed: every call has the same keys.

    Example: score i is large in many calls at once, those with a long key i.
    Why: all randomness must come from the generator that is passed in.
    Look at: every `default_rng` inside the function.
    """
    refuse_sample(n, d_k)
    return scores_of(rng.standard_normal((n, d_k)), np.random.default_rng(0).standard_normal((n, d_k)), scale)


@draws("draws-global-generator")
def global_generator(rng, n, d_k, scale=1.0):
    """You draw from NumPy's global generator (`np.random.randn`); all randomness must come from `rng`.

    Example: the same generator state gives other scores every time, and the global state moves on.
    Why: hidden global state makes results depend on whatever ran before.
    Look at: `np.random.` inside the function.
    """
    refuse_sample(n, d_k)
    return scores_of(np.random.randn(n, d_k), np.random.randn(n, d_k), scale)


@draws("draws-global-seed")
def global_seed(rng, n, d_k, scale=1.0):
    """You seed NumPy's global generator and draw from it; all randomness must come from `rng`.

    Example: two generators with different seeds give the same scores.
    Why: `np.random.seed` changes what every other part of the program draws.
    Look at: `np.random.seed` inside the function.
    """
    refuse_sample(n, d_k)
    np.random.seed(0)
    return scores_of(np.random.randn(n, d_k), np.random.randn(n, d_k), scale)


@functools.cache
def remembered(n, d_k):
    return {}


@draws("draws-cached")
def cached(rng, n, d_k, scale=1.0):
    """You keep the scores of a size and return them again; a new generator must give new scores.

    Example: a second call with another generator repeats the scores of the first.
    Why: a cache keyed by sizes knows nothing of the generator.
    Look at: the cache.
    """
    refuse_sample(n, d_k)
    known = remembered(n, d_k)
    if "scores" not in known:
        known["scores"] = scores_of(*normal(rng, n, d_k), 1.0)
    return scale * known["scores"]


@draws("draws-shared-buffer")
def shared_buffer(rng, n, d_k, scale=1.0):
    """You write every result into the same array; the scores of an earlier call change under its caller's hands.

    Example: after a second call of the same size the first result holds the scores of the second.
    Why: a result never shares memory with a result of another call.
    Look at: the array that lives outside the function.
    """
    refuse_sample(n, d_k)
    buffer = remembered(n, d_k).setdefault("buffer", np.empty(n))
    buffer[:] = scores_of(*normal(rng, n, d_k), scale)
    return buffer


# ---------------------------------------------------------------- another form


@draws("draws-in-float32")
def draws_in_float32(rng, n, d_k, scale=1.0):
    """Your scores are float32; float64 is asked.

    Example: `sample_scores(rng, 5, 3).dtype` is float32.
    Why: the exercise compares variances to many digits.
    Look at: the dtype that you give to `rng` or to the result.
    """
    refuse_sample(n, d_k)
    return scores_of(*normal(rng, n, d_k), scale).astype(np.float32)


@draws("draws-rounded-to-float32")
def through_float32(rng, n, d_k, scale=1.0):
    """Your scores are computed in float32 and widened afterwards: half of the digits are zeros.

    Example: every score is exactly a float32 number.
    Why: a cast at the end doesn't bring digits back.
    Look at: `dtype=np.float32`.
    """
    refuse_sample(n, d_k)
    return scores_of(*normal(rng, n, d_k), scale).astype(np.float32).astype(np.float64)


@draws("draws-as-a-list")
def as_a_list(rng, n, d_k, scale=1.0):
    """You return a list; a float64 array of shape (n,) is asked.

    Example: `sample_scores(rng, 5, 3)` is a list of five numbers.
    Why: callers go on with array arithmetic.
    Look at: the return line.
    """
    refuse_sample(n, d_k)
    return scores_of(*normal(rng, n, d_k), scale).tolist()


@draws("draws-as-a-column")
def as_a_column(rng, n, d_k, scale=1.0):
    """You return shape (n, 1); a vector of shape (n,) is asked.

    Example: `sample_scores(rng, 5, 3).shape` is (5, 1).
    Why: a column broadcasts against a vector to n x n without a word.
    Look at: `keepdims`, or a matrix product with a trailing axis of 1.
    """
    refuse_sample(n, d_k)
    return scores_of(*normal(rng, n, d_k), scale)[:, None]


@draws("draws-unsummed")
def unsummed(rng, n, d_k, scale=1.0):
    """You return the products q_i k_i without adding them up.

    Example: `sample_scores(rng, 5, 3).shape` is (5, 3).
    Why: a score is the sum over the d_k components.
    Look at: `.sum(axis=-1)`.
    """
    refuse_sample(n, d_k)
    q, k = normal(rng, n, d_k)
    return scale * q * k


@draws("draws-a-matrix")
def matrix(rng, n, d_k, scale=1.0):
    """You return all n x n scores; n draws are asked, row i with row i alone.

    Example: `sample_scores(rng, 5, 3).shape` is (5, 5).
    Why: `q @ k.T` scores every query with every key, and those scores share rows.
    Look at: `(q * k).sum(-1)`.
    """
    refuse_sample(n, d_k)
    q, k = normal(rng, n, d_k)
    return scale * (q @ k.T)


@draws("draws-summed-over-draws")
def summed_over_draws(rng, n, d_k, scale=1.0):
    """You return d_k numbers: the sum runs over the draws instead of over the components (or n and d_k have changed places).

    Example: `sample_scores(rng, 5, 3)` has 3 entries where 5 are asked.
    Why: with q of shape (n, d_k) the components lie along the last axis.
    Look at: the axis of the sum, and the shape that you ask of `rng`.
    """
    refuse_sample(n, d_k)
    q, k = normal(rng, n, d_k)
    return scale * (q * k).sum(axis=0)


# ---------------------------------------------------------------- not refused


@draws("draws-nothing-refused")
def nothing_refused_in_draws(rng, n, d_k, scale=1.0):
    """You refuse nothing; a d_k below 1 is a ValueError that names d_k.

    Example: `sample_scores(rng, 4, 0)` gives four zeros.
    Why: an empty sum is 0, silently.
    Look at: `if d_k < 1: raise ValueError("d_k ...")`.
    """
    return scores_of(*normal(rng, n, d_k), scale)


@draws("draws-asserted")
def asserted_in_draws(rng, n, d_k, scale=1.0):
    """You use assert for impossible sizes; a ValueError is asked.

    Example: `sample_scores(rng, 4, 0)` raises AssertionError.
    Why: assertions are for your own mistakes, and `python -O` drops them.
    Look at: `if d_k < 1: raise ValueError("d_k ...")`.
    """
    assert n >= 0, "n"
    assert d_k >= 1, "d_k"
    return scores_of(*normal(rng, n, d_k), scale)
