"""What people get wrong in exercise 01 when they draw scores. Compared by their statistics: the recipe is free, the joint law isn't."""


import numpy as np
from attngrade.misconceptions import misconception

__all__: list[str] = []  # filled by `draws`: every misconception below
refused_d_k = "d_k must be at least 1, got {}"


def refuse_sample(n, d_k):
    if n < 0:
        raise ValueError(f"n must not be negative, got {n}")
    if d_k < 1:
        raise ValueError(refused_d_k.format(d_k))


def draws(name, **options):
    """A misconception of sample_scores, exported."""

    def mark(code):
        __all__.append(code.__name__)
        return misconception(name, of="sample_scores", at="statistics", **options)(code)

    return mark


def normal(rng, n, d_k):
    return rng.standard_normal((n, d_k)), rng.standard_normal((n, d_k))


def scores_of(q, k, scale):
    return scale * (q * k).sum(axis=-1)


# ---------------------------------------------------------------- not independent


@draws("draws-all-pairs")
def all_pairs(rng, n, d_k, scale=1.0):
    """You score every query of a few with every key of a few; such scores share rows and aren't independent draws.

    Example: with d_k=1, 10 queries and 10 keys, one long query makes ten large scores at once.
    Why: the mean and the variance of each score are right, but n pairs of shared rows carry far less information than n draws.
    Look at: one fresh q and one fresh k per draw, `(q * k).sum(-1)`, not `q @ k.T`.
    """
    refuse_sample(n, d_k)
    side = int(np.ceil(np.sqrt(n)))
    q, k = normal(rng, side, d_k)
    return scale * (q @ k.T).ravel()[:n]


@draws("draws-every-key-summed")
def every_key_summed(rng, n, d_k, scale=1.0):
    """Each of your scores is a query times the sum of all keys (`(q @ k.T).sum(1)`); one key belongs to one query.

    Example: with n = 100 the scores of a call have about 100 times the variance of one.
    Why: q @ k.T holds every query with every key; what is asked stands on its diagonal.
    Look at: (q * k).sum(-1), the products of one row with one row.
    """
    refuse_sample(n, d_k)
    q, k = normal(rng, n, d_k)
    return scale * (q @ k.T).sum(axis=1)


@draws("draws-one-query")
def one_query(rng, n, d_k, scale=1.0):
    """You draw one q (or one k) and use it for all draws of a call; every draw needs vectors of its own.

    Example: at d_k=1 all scores of a call are q * k_i: their variance is q**2, another number in every call.
    Why: for one fixed q the scores have variance |q|**2; d_k is its mean over fresh queries.
    Look at: the shapes that you ask of `rng`: (n, d_k) for both.
    """
    refuse_sample(n, d_k)
    return scale * (rng.standard_normal((n, d_k)) @ rng.standard_normal(d_k))


@draws("draws-one-score-repeated")
def one_score(rng, n, d_k, scale=1.0):
    """You return one score n times; n independent draws are asked.

    Example: all 96 scores of a call are the same number.
    Why: one draw repeated tells nothing about the variance.
    Look at: the size that you ask of `rng`.
    """
    refuse_sample(n, d_k)
    q, k = normal(rng, 1, d_k)
    return np.repeat(scores_of(q, k, scale), n)


@draws("draws-half-repeated")
def half_repeated(rng, n, d_k, scale=1.0):
    """You draw fewer scores than n and repeat them to fill the rest.

    Example: the second half of the 96 scores is the first half again.
    Why: repeated scores look like a larger sample and are a smaller one.
    Look at: the size that you ask of `rng`.
    """
    refuse_sample(n, d_k)
    return np.tile(scores_of(*normal(rng, (n + 1) // 2, d_k), scale), 2)[:n]


@draws("draws-resampled")
def resampled(rng, n, d_k, scale=1.0):
    """You draw scores and pick from them with replacement: many come twice.

    Example: of 96 scores about 61 are different.
    Why: a bootstrap sample isn't a sample of independent draws from the law.
    Look at: `rng.choice`.
    """
    refuse_sample(n, d_k)
    scores = scores_of(*normal(rng, n, d_k), scale)
    return scores[rng.integers(n, size=n)] if n else scores


@draws("draws-shuffled-queries-as-keys")
def shuffled(rng, n, d_k, scale=1.0):
    """Your keys are the queries in another order; every q then serves two draws.

    Example: at d_k=1 the product of all scores of a call is a square, so it is never negative.
    Why: each single score is right, yet score i and the score that has q_i for its key depend on each other.
    Look at: two separate draws from `rng`, one for q and one for k.
    """
    refuse_sample(n, d_k)
    q = rng.standard_normal((n, d_k))
    return scores_of(q, rng.permutation(q), scale) if n > 1 else scores_of(*normal(rng, n, d_k), scale)


@draws("draws-neighbours-as-keys")
def neighbours(rng, n, d_k, scale=1.0):
    """The key of each draw is the query of its neighbour; every vector then serves two draws.

    Example: at d_k=1 the scores are q1 q2, q2 q3, q3 q4: neighbours are large together.
    Why: each single score is right, but neighbouring scores share a vector.
    Look at: two separate draws from `rng`, one for q and one for k.
    """
    refuse_sample(n, d_k)
    q = rng.standard_normal((n + 1, d_k))
    return scores_of(q[:-1], q[1:], scale)


@draws("draws-rolled-queries-as-keys")
def rolled(rng, n, d_k, scale=1.0):
    """Your keys are the queries moved by one row; every q then serves two draws.

    Example: at d_k=1 the scores are q1 qn, q2 q1, q3 q2: neighbours are large together, and at n=1 the key is the query.
    Why: each single score is right, but neighbouring scores share a vector.
    Look at: `np.roll`, and two separate draws from `rng` instead.
    """
    refuse_sample(n, d_k)
    q = rng.standard_normal((n, d_k))
    return scores_of(q, np.roll(q, 1, axis=0), scale)


@draws("draws-every-query-twice")
def every_query_twice(rng, n, d_k, scale=1.0):
    """Every query serves two draws, with a key of its own each time; every draw needs a fresh query as well.

    Example: at d_k=1 scores 0 and 1 are q0 k0 and q0 k1: they are large together.
    Why: two scores with the same q are uncorrelated, but both grow when q is long.
    Look at: `np.repeat`.
    """
    refuse_sample(n, d_k)
    q = np.repeat(rng.standard_normal(((n + 1) // 2, d_k)), 2, axis=0)[:n]
    return scores_of(q, rng.standard_normal((n, d_k)), scale)


@draws("draws-antithetic")
def antithetic(rng, n, d_k, scale=1.0):
    """Half of your scores are the other half with the sign turned; the pairs aren't independent.

    Example: the mean of a call is exactly 0.
    Why: mirrored draws lower the error of a mean, but they are n/2 draws and not n.
    Look at: the line that negates.
    """
    refuse_sample(n, d_k)
    half = scores_of(*normal(rng, (n + 1) // 2, d_k), scale)
    return np.concatenate([half, -half])[:n]


@draws("draws-sorted")
def in_order(rng, n, d_k, scale=1.0):
    """Your scores come back sorted; independent draws come in any order.

    Example: the first score of every call is its smallest.
    Why: in a sorted sample each draw tells where the next one lies.
    Look at: the call of `sort`.
    """
    refuse_sample(n, d_k)
    return np.sort(scores_of(*normal(rng, n, d_k), scale))


@draws("draws-standardised")
def standardised(rng, n, d_k, scale=1.0):
    """You force the sample to have mean 0 and exactly the predicted variance; then it can't test the prediction.

    Example: the sample variance is the same number in every call.
    Why: n independent draws scatter around the law's moments.
    Look at: the line that subtracts the mean and divides by the deviation.
    """
    refuse_sample(n, d_k)
    scores = scores_of(*normal(rng, n, d_k), 1.0)
    spread = scores.std() if n else 0.0
    return scale * np.sqrt(d_k) * (scores - scores.mean()) / spread if spread > 0 else scale * scores


@draws("draws-centred")
def centred(rng, n, d_k, scale=1.0):
    """You subtract the sample's mean from the scores; then they are no longer independent.

    Example: the mean of every call is exactly 0, and a call with n=1 is 0.
    Why: the law has mean 0, a sample of it hasn't.
    Look at: the line that subtracts the mean.
    """
    refuse_sample(n, d_k)
    scores = scores_of(*normal(rng, n, d_k), scale)
    return scores - (scores.mean() if n else 0.0)


# ---------------------------------------------------------------- another law


@draws("draws-query-with-itself")
def itself(rng, n, d_k, scale=1.0):
    """Your q and k are the same vectors (k is q, or both come from generators in the same state); the key must be drawn anew.

    Example: at d_k=3 the mean of the scores is 3 where 0 is right.
    Why: q . q is a squared length: it has mean d_k and variance 2 d_k.
    Look at: the line that draws the keys.
    """
    refuse_sample(n, d_k)
    q = rng.standard_normal((n, d_k))
    return scores_of(q, q, scale)


@draws("draws-uniform-from-zero")
def uniform(rng, n, d_k, scale=1.0):
    """Your components are uniform in 0 .. 1 (`rng.random`); standard normal ones are asked.

    Example: at d_k=3 the mean of the scores is 0.75 where 0 is right.
    Why: uniform numbers have mean 1/2 and variance 1/12.
    Look at: `rng.standard_normal`.
    """
    refuse_sample(n, d_k)
    return scores_of(rng.random((n, d_k)), rng.random((n, d_k)), scale)


@draws("draws-uniform-in-minus-one-one")
def uniform_signed(rng, n, d_k, scale=1.0):
    """Your components are uniform in -1 .. 1; standard normal ones are asked.

    Example: at d_k=3 the scores have variance 1/3 where 3 is right.
    Why: a uniform number in -1 .. 1 has variance 1/3, so each product has 1/9.
    Look at: `rng.standard_normal`.
    """
    refuse_sample(n, d_k)
    return scores_of(rng.uniform(-1, 1, (n, d_k)), rng.uniform(-1, 1, (n, d_k)), scale)


@draws("draws-one-side-uniform")
def one_side_uniform(rng, n, d_k, scale=1.0):
    """One of your sides is uniform in -1 .. 1; standard normal components are asked of both.

    Example: at d_k=3 the scores have variance 1 where 3 is right.
    Why: a uniform number in -1 .. 1 has variance 1/3, so each product has 1/3.
    Look at: `rng.uniform` in place of `rng.standard_normal`.
    """
    refuse_sample(n, d_k)
    return scores_of(rng.uniform(-1, 1, (n, d_k)), rng.standard_normal((n, d_k)), scale)


@draws("draws-uniform-of-unit-variance")
def uniform_unit(rng, n, d_k, scale=1.0):
    """Your components are uniform with variance 1; standard normal ones are asked.

    Example: mean and variance are right, but at d_k=1 no score is larger than 3.
    Why: the fourth moment of the score, and so the error of its sample variance, depends on the law of the components.
    Look at: `rng.standard_normal`.
    """
    refuse_sample(n, d_k)
    edge = np.sqrt(3)
    return scores_of(rng.uniform(-edge, edge, (n, d_k)), rng.uniform(-edge, edge, (n, d_k)), scale)


@draws("draws-signs")
def signs(rng, n, d_k, scale=1.0):
    """Your components are +1 or -1; standard normal ones are asked.

    Example: mean and variance are right, but at d_k=1 every score is 1 or -1.
    Why: the fourth moment of the score, and so the error of its sample variance, depends on the law of the components.
    Look at: `rng.standard_normal`.
    """
    refuse_sample(n, d_k)
    return scores_of(rng.choice([-1.0, 1.0], (n, d_k)), rng.choice([-1.0, 1.0], (n, d_k)), scale)


@draws("draws-gaussian-shortcut")
def gaussian(rng, n, d_k, scale=1.0):
    """You draw normal numbers of variance d_k in place of dot products; scores of small heads are far from normal.

    Example: at d_k=2 a share 0.050 of the scores is larger than 3 in size, of normal numbers with that variance 0.034.
    Why: q . k has excess kurtosis 6/d_k; it gets close to normal for wide heads alone.
    Look at: draw q, draw k, multiply.
    """
    refuse_sample(n, d_k)
    return scale * np.sqrt(d_k) * rng.standard_normal(n)


@draws("draws-one-number-per-vector")
def constant_vectors(rng, n, d_k, scale=1.0):
    """All components of a vector are the same number in your draws; they must be independent of each other.

    Example: at d_k=64 the scores have variance 4096 where 64 is right.
    Why: d_k equal terms add up to d_k times one term, whose variance is d_k**2.
    Look at: the shape that you ask of `rng`: (n, d_k).
    """
    refuse_sample(n, d_k)
    return scores_of(*(np.repeat(x, d_k, axis=1) for x in normal(rng, n, 1)), scale)


@draws("draws-absolute")
def absolute(rng, n, d_k, scale=1.0):
    """Your scores are never negative; q . k is negative half of the time.

    Example: at d_k=3 the mean of the scores is above 1 where 0 is right.
    Why: the score keeps the sign of the dot product.
    Look at: the absolute value or the square.
    """
    refuse_sample(n, d_k)
    return np.abs(scores_of(*normal(rng, n, d_k), scale))


# ---------------------------------------------------------------- another size


@draws("draws-averaged")
def averaged(rng, n, d_k, scale=1.0):
    """You take the mean of the products; a dot product is their sum.

    Example: at d_k=3 the scores have variance 1/3 where 3 is right.
    Why: dividing by d_k divides the variance by d_k**2.
    Look at: `mean` in place of `sum`.
    """
    refuse_sample(n, d_k)
    q, k = normal(rng, n, d_k)
    return scale * (q * k).mean(axis=-1)


@draws("draws-scaled-unasked")
def scaled_unasked(rng, n, d_k, scale=1.0):
    """You divide by sqrt(d_k) though `scale` alone decides about the scale, and it is 1 unless given.

    Example: at d_k=64 the scores have variance 1 where 64 is right.
    Why: the exercise shows what the scores do before anything undoes it.
    Look at: the factor beside `scale`.
    """
    refuse_sample(n, d_k)
    return scores_of(*normal(rng, n, d_k), scale) / np.sqrt(d_k)


@draws("draws-unit-vectors")
def cosines(rng, n, d_k, scale=1.0):
    """You normalise q and k to length 1 and so return cosines; the scores of standard normal vectors are asked.

    Example: at d_k=3 the scores have variance 1/3 where 3 is right.
    Why: the length of a standard normal vector is about sqrt(d_k), and it belongs to the score.
    Look at: the division by the norm.
    """
    refuse_sample(n, d_k)
    q, k = (x / np.linalg.norm(x, axis=-1, keepdims=True) for x in normal(rng, n, d_k))
    return scores_of(q, k, scale)


@draws("draws-scale-squared")
def scale_squared(rng, n, d_k, scale=1.0):
    """The scale reaches your scores twice, once through q and once through k.

    Example: at d_k=5, scale=3 the variance is 405 where 45 is right.
    Why: scale * q . k has the scale once; its variance has it squared.
    Look at: every place where `scale` stands.
    """
    refuse_sample(n, d_k)
    return scores_of(*normal(rng, n, d_k), scale**2)


@draws("draws-scale-as-a-variance")
def scale_root(rng, n, d_k, scale=1.0):
    """Your scores are multiplied by the root of `scale`, or divided so that `scale` acts as a variance.

    Example: at d_k=5, scale=3 the variance is 15 where 45 is right.
    Why: `scale` multiplies the score itself.
    Look at: the root.
    """
    refuse_sample(n, d_k)
    return scores_of(*normal(rng, n, d_k), np.sign(scale) * np.sqrt(abs(scale)))


@draws("draws-scale-ignored")
def scale_ignored(rng, n, d_k, scale=1.0):
    """`scale` doesn't reach your scores.

    Example: at d_k=5, scale=3 the variance is 5 where 45 is right.
    Why: scale * q . k is asked.
    Look at: the return line.
    """
    refuse_sample(n, d_k)
    return scores_of(*normal(rng, n, d_k), 1.0)


@draws("draws-scale-divides")
def scale_divides(rng, n, d_k, scale=1.0):
    """You divide by `scale`; it multiplies.

    Example: at d_k=5, scale=3 the variance is 0.556 where 45 is right.
    Why: scale * q . k is asked, with scale = d_k ** -0.5 for the usual attention.
    Look at: the return line.
    """
    refuse_sample(n, d_k)
    with np.errstate(divide="ignore", invalid="ignore"):
        return scores_of(*normal(rng, n, d_k), 1.0) / np.float64(scale)


@draws("draws-scale-divides-by-zero-too", extends="draws-scale-divides")
def scale_divides_by_zero_too(rng, n, d_k, scale=1.0):
    """You divide by `scale`; scores are multiplied by it, and with scale = 0 you end in a ZeroDivisionError.

    Example: at d_k=5, scale=3 the scores have variance 5/9 where 45 is right.
    Why: `scale` is the factor itself, 1/sqrt(d_k) for instance, and not what is divided by.
    Look at: 1 / scale.
    """
    refuse_sample(n, d_k)
    return scores_of(*normal(rng, n, d_k), 1 / scale)


@draws("draws-too-short-by-one")
def one_component_short(rng, n, d_k, scale=1.0):
    """Your dot products have one component less than d_k.

    Example: at d_k=3 the scores have variance 2 where 3 is right.
    Why: the sum runs over all d_k components.
    Look at: the slice or the range.
    """
    refuse_sample(n, d_k)
    return scores_of(*normal(rng, n, d_k - 1), scale)
