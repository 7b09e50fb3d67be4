"""Exercise 01, claim by claim."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
from attngrade.checks.claims import Result, after, all_but_one, claim, expect, expect_number, expect_same, generator, number, of, points, refuses, tensor
from attngrade.checks.draws import (
    claim_independent_between,
    claim_independent_within,
    claim_laplace,
    claim_law,
    claim_moments,
    claim_no_component_shared,
    claim_no_far_echo,
    claim_no_grid,
    claim_no_swing,
    claim_scatter,
    claim_together,
    law_errors,
    settled,
    swing_errors,
)

CALLS, DRAWS = 32, 96  # the tables of the two checks about independence
WIDE_CALLS, FEW_CALLS = 24, 8  # of wide heads at a look, and those whose draws are compared one by one
SLACK = 1e-8  # z divides a difference by a root of a difference: ten times the contract's tolerance where the inputs are drawn


def expect_moments(got, mean, variance, case, because=None):
    claim(isinstance(got, tuple) and len(got) == 2, "score_moments must return the tuple (mean, variance)", got=got, case=case)
    expect_number(got[0], mean, atol=1e-12, case=f"the mean, {case}")
    expect_number(got[1], variance, atol=1e-12, case=f"the variance, {case}", because=because)


def central(scores):
    """n and the biased second and fourth central moments."""
    values = [float(score) for score in scores]
    n = len(values)
    mean = math.fsum(values) / n
    return n, *(math.fsum((value - mean) ** power for value in values) / n for power in (2, 4))


def oracle_z(scores, predicted):
    n, m2, m4 = central(scores)
    return (m2 * n / (n - 1) - predicted) / math.sqrt((m4 - m2**2) / n)


def pieces(scores):
    """What z is made of, for those whose formula is wrong."""
    n, m2, m4 = central(scores)
    return f"Here s**2 is {m2 * n / (n - 1):.4g} (over n - 1), m2 {m2:.4g}, m4 {m4:.4g}, and the standard error {math.sqrt((m4 - m2**2) / n):.4g}"


def oracle_scale(d_k, correlation):
    return 1 / math.sqrt(d_k * (1 + correlation**2) + (correlation * d_k) ** 2)


def seeds(rng, count):
    return [int(seed) for seed in rng.choice(2**31, size=count, replace=False)]


def sample(submission, seed, n, d_k, *scale, **options):
    """One sample of scores: a finite float64 vector."""
    got = submission.sample_scores(generator(seed), n, d_k, *scale, **options)
    case = f"n={n}, d_k={d_k}" + "".join(f", scale={value:g}" for value in scale)
    bad = isinstance(got, Result) and got.array.dtype.kind == "f" and not np.isfinite(got.array).all()
    claim(not bad, "The scores must be finite", got=got, case=case)
    expect(got, np.zeros(n), dtype="float64", tol=math.inf, scale=1.0, case=case)
    return as_many(got, n)


def as_many(got, n):
    """A result without what nobody asked for: what is worked out here must not take the time and memory that a submission likes."""
    surplus = isinstance(got, Result) and got.array.size > n
    return replace(got, array=got.array.reshape(-1)[:n].copy()) if surplus else got


def samples(submission, rng, calls, n, d_k, *scale):
    """A table (calls, n), a new generator for every row."""
    return np.stack([sample(submission, seed, n, d_k, *scale).array for seed in seeds(rng, calls)])


def often_narrow(rng, low, high):
    """A head width; narrow ones tell more with as many draws."""
    return int(rng.integers(low, high, size=2).min())


def claim_left_alone(submission, function):
    """No call so far changed an argument or global state."""
    for call in submission.calls:
        if call.function == function:
            claim(not call.mutated, f"{function} changed an argument that it was given; work on a copy")
            claim(not call.touched, f"{function} changed global state: {', '.join(call.touched)}")


def is_infinity(got):
    value = got.array if isinstance(got, Result) and got.kind == "scalar" else got
    return isinstance(value, (float, np.ndarray)) and bool(np.isinf(value))


def heavy(rng, n):
    """Skewed and heavy-tailed scores with a mean of their own."""
    return rng.standard_normal(n) * rng.standard_normal(n) + 0.3 * rng.standard_normal(n) ** 2 + 0.7


# ---------------------------------------------------------------- score_moments


@points(1)
@of("score_moments")
def test_standard_scores_have_mean_zero_and_variance_d_k(submission, rng):
    """With standard components the mean is 0 and the variance is d_k."""
    for d_k in (1, 2, 7, 64, int(rng.integers(100, 9000))):
        expect_moments(submission.score_moments(d_k=d_k), 0.0, d_k, f"d_k={d_k}")


@points(1)
@of("score_moments")
@after("standard-scores-have-mean-zero-and-variance-d-k")
def test_variances_multiply_and_terms_add(submission, rng):
    """With zero means the variance is d_k times the product of the two variances."""
    expect_moments(submission.score_moments(2, var_q=3.0), 0.0, 6.0, "d_k=2, var_q=3")
    expect_moments(submission.score_moments(2, var_k=3.0), 0.0, 6.0, "d_k=2, var_k=3")
    for d_k, *variances in [(1, 4.0, 1.0), (1, 1.0, 0.25), (3, 5.0, 0.5), (2, 0.0, 2.0), (2, 1.5, 0.0), (5, *rng.uniform(0.2, 4.0, 2))]:
        var_q, var_k = map(float, variances)
        case = f"d_k={d_k}, var_q={var_q:.4g}, var_k={var_k:.4g}"
        expect_moments(submission.score_moments(d_k, var_q=var_q, var_k=var_k), 0.0, d_k * var_q * var_k, case)


@points(1)
@of("score_moments")
@after("standard-scores-have-mean-zero-and-variance-d-k")
def test_mean_is_d_k_times_both_means(submission, rng):
    """The mean is d_k * mean_q * mean_k, with its sign."""
    for d_k, *means in [(1, 2.0, 3.0), (4, 0.5, -3.0), (7, *rng.uniform(-3.0, -1.0, 2))]:
        mean_q, mean_k = map(float, means)
        case = f"d_k={d_k}, mean_q={mean_q:.4g}, mean_k={mean_k:.4g}"
        got, term = submission.score_moments(d_k, mean_q=mean_q, mean_k=mean_k), 1 + mean_q**2 + mean_k**2
        told = f"Each term has the mean square {(1 + mean_q**2) * (1 + mean_k**2):.4g} and the mean {mean_q * mean_k:.4g}, so its variance is {term:.4g}; there are {d_k} of them"
        expect_moments(got, d_k * mean_q * mean_k, d_k * term, case, told)


@points(2)
@of("score_moments")
@after("standard-scores-have-mean-zero-and-variance-d-k", "variances-multiply-and-terms-add", "mean-is-d-k-times-both-means")
def test_each_mean_adds_a_variance_term(submission, rng):
    """A mean on one side lets the variance of the other side through: two extra terms."""
    table = [(1, 0.0, 0.5, 3.0, 2.0), (1, 3.0, 0.5, 0.0, 2.0), (3, -2.0, 0.5, 1.5, 3.0), (6, 2.0, 0.0, -0.5, 4.0)]
    table += [(d_k, *rng.uniform([-2, 0.2, -2, 0.2], [2, 3, 2, 3])) for d_k in (5, 11)]
    for d_k, *numbers in table:
        mean_q, var_q, mean_k, var_k = map(float, numbers)
        case = f"d_k={d_k}, mean_q={mean_q:.4g}, var_q={var_q:.4g}, mean_k={mean_k:.4g}, var_k={var_k:.4g}"
        variance = d_k * (var_q * var_k + var_q * mean_k**2 + var_k * mean_q**2)
        square = (var_q + mean_q**2) * (var_k + mean_k**2)
        told = f"Each term has the mean square {square:.4g} and the mean {mean_q * mean_k:.4g}, so its variance is {variance / d_k:.4g}; there are {d_k} of them"
        expect_moments(submission.score_moments(d_k, mean_q, var_q, mean_k, var_k), d_k * mean_q * mean_k, variance, case, told)
    claim_left_alone(submission, "score_moments")


@points(1)
@of("score_moments")
def test_impossible_moments_are_refused(submission):
    """A d_k below 1 or a negative variance is a ValueError that names the parameter."""
    refuses(lambda: submission.score_moments(0), ("d_k",), case="score_moments, d_k=0")
    refuses(lambda: submission.score_moments(-3), ("d_k",), case="score_moments, d_k=-3")
    refuses(lambda: submission.score_moments(4, var_q=-1.0), ("var_q",), case="score_moments, var_q=-1")
    refuses(lambda: submission.score_moments(4, var_k=-0.5), ("var_k",), case="score_moments, var_k=-0.5")
    refuses(lambda: submission.score_moments(4, 0.0, -1e-3, 0.0, 1.0), ("var_q",), case="score_moments, var_q=-0.001")
    refuses(lambda: submission.score_moments(4, var_k=-1e-3), ("var_k",), case="score_moments, var_k=-0.001")
    refuses(lambda: submission.score_moments(2, 1.0, -2.0, 1.0, -3.0), ("var_q", "var_k"), case="score_moments, var_q=-2, var_k=-3")


# ---------------------------------------------------------------- sample_scores


@points(1)
@of("sample_scores")
def test_scores_come_as_one_float64_vector(submission, rng):
    """n scores come back as a float64 array of shape (n,), with all of float64's digits."""
    for n, d_k in [(1, 1), (1, 6), (2, 1), (5, 3), (3, 8)]:
        sample(submission, seeds(rng, 1)[0], n, d_k)
    scores = submission.sample_scores(rng=generator(seeds(rng, 1)[0]), n=200, d_k=3, scale=1.0)
    case = "n=200, d_k=3"
    expect(scores, np.zeros(200), dtype="float64", tol=math.inf, scale=1.0, case=case)
    scores = as_many(scores, 200)
    narrow = (scores.array.astype(np.float32) == scores.array).all()
    claim(not narrow, "Every score is a float32 number; draw and multiply in float64", got=scores, case=case)


@points(1)
@of("sample_scores")
def test_all_randomness_comes_from_the_generator(submission, rng):
    """The same generator gives the same scores, another one gives others, and no global generator is touched."""
    first, second = seeds(rng, 2)
    one = sample(submission, first, 7, 3)
    case = "n=7, d_k=3"
    claim_left_alone(submission, "sample_scores")
    other = sample(submission, second, 7, 3)
    again = sample(submission, first, 7, 3)
    stray = "Some of the randomness doesn't come from `rng`: equal generators gave different scores"
    expect_same(again, one, case="the same seed twice", because=stray)
    fresh = (other.array != one.array).all()
    claim(fresh, "Generators with different seeds gave equal scores; all of them must come from `rng`", got=other, case=case)
    second = sample(submission, first, 7, 3, _before=(None,))
    stood_still = "A second call with the same generator gave the same scores: draw from `rng` itself and not from a copy, so that it goes on"
    claim((second.array != one.array).all(), stood_still, got=second, case="the same generator, used a second time")


@points(1)
@of("sample_scores")
@after("all-randomness-comes-from-the-generator")
def test_each_call_returns_scores_of_its_own(submission, rng):
    """No call changes, or is changed by, the scores of another call."""
    first, second = seeds(rng, 2)
    kept = sample(submission, first, 6, 2, _keep=True)
    sample(submission, second, 6, 2)
    overwritten = "A second call overwrote the scores of the first"
    expect_same(submission.reread(kept), kept, case="read again after a second call", because=overwritten)
    for seed in seeds(rng, 8):
        sample(submission, seed, 6, 2)
    overwritten = "A later call overwrote the scores of the first"
    expect_same(submission.reread(kept), kept, case="read again after nine more calls", because=overwritten)
    submission.scribble(kept)
    again = sample(submission, first, 6, 2)
    expect_same(again, kept, case="after the caller wrote into the first result", because="Two calls returned the same array")


@points(3)
@of("sample_scores")
@after("scores-come-as-one-float64-vector", "all-randomness-comes-from-the-generator")
def test_draws_of_one_call_are_independent(submission, rng):
    """No draw tells anything about another draw of the same call."""
    claim_independent_within(samples(submission, rng, CALLS, DRAWS, 1), f"{CALLS} calls, n={DRAWS}, d_k=1")
    claim_together(samples(submission, rng, 12, 1300, 1), "12 calls, n=1300, d_k=1")
    long = int(rng.integers(9_000, 10_000))
    table, case = samples(submission, rng, 2, long, 1), f"2 calls, n={long}, d_k=1"
    claim_scatter(table, case)
    claim_no_far_echo(table, case)
    for d_k, *scale in [(2,), (int(rng.integers(3, 6)), 0.5)]:  # whole queries may be fresh only where they have one component
        case = f"30 calls, n=2000, d_k={d_k}" + "".join(f", scale={value:g}" for value in scale)
        claim_no_component_shared(samples(submission, rng, 30, 2000, d_k, *scale), case)
    for d_k in (int(rng.integers(6, 13)), often_narrow(rng, 13, 41)):
        n = math.isqrt(min(150 * (d_k + 3), 4000)) ** 2  # a table where there is one of queries and keys; the wider, the less a draw tells
        table = settled(lambda n=n, d_k=d_k: samples(submission, rng, WIDE_CALLS, n, d_k), swing_errors)
        claim_no_grid(table[0], d_k, f"n={n}, d_k={d_k}")
        claim_no_component_shared(table[:FEW_CALLS], f"{FEW_CALLS} calls, n={n}, d_k={d_k}")
        claim_no_swing(table, f"{len(table)} calls, n={n}, d_k={d_k}")


@points(1)
@of("sample_scores")
@after("scores-come-as-one-float64-vector", "all-randomness-comes-from-the-generator")
def test_calls_with_different_generators_are_independent(submission, rng):
    """No call tells anything about a call with another generator."""
    claim_independent_between(samples(submission, rng, CALLS, DRAWS, 1), f"{CALLS} calls, n={DRAWS}, d_k=1")


@points(2)
@of("sample_scores")
@after("scores-come-as-one-float64-vector", "draws-of-one-call-are-independent")
def test_scores_have_mean_zero_and_variance_d_k_scale_squared(submission, rng):
    """The scores have mean 0 and variance scale**2 * d_k."""
    for d_k, *scale in [(3,), (int(rng.integers(65, 100)),), (5, 3.0), (16, 0.25), (7, -0.5), (3, 0.0)]:
        scores = samples(submission, rng, 10, 600, d_k, *scale).reshape(-1)
        variance = d_k * math.prod(scale) ** 2
        claim_moments(scores, variance, d_k, f"{scores.size} draws, d_k={d_k}" + "".join(f", scale={value:g}" for value in scale))
    d_k = often_narrow(rng, 100, 600)
    claim_moments(sample(submission, seeds(rng, 1)[0], 2000, d_k).array, d_k, d_k, f"2000 draws, d_k={d_k}")
    scale = round(float(rng.uniform(0.1, 0.5)), 2)
    claim_moments(sample(submission, seeds(rng, 1)[0], 2000, d_k, scale).array, d_k * scale**2, d_k, f"2000 draws, d_k={d_k}, scale={scale:g}")


@points(2)
@of("sample_scores")
@after("scores-come-as-one-float64-vector", "draws-of-one-call-are-independent", "scores-have-mean-zero-and-variance-d-k-scale-squared")
def test_scores_have_the_tails_of_a_sum_of_products(submission, rng):
    """At d_k=2 half of the scores are positive and a share exp(-x) is larger than x in size."""
    scores = samples(submission, rng, 10, 1600, 2).reshape(-1)
    claim_laplace(scores, f"{scores.size} draws, d_k=2")
    for calls, d_k in [(8, int(rng.integers(3, 9))), (4, int(rng.integers(9, 17))), (8, often_narrow(rng, 17, 61))]:
        scores = settled(lambda calls=calls, d_k=d_k: samples(submission, rng, calls, 3000, d_k), partial(law_errors, d_k=d_k)).reshape(-1)
        claim_law(scores, d_k, f"{scores.size} draws, d_k={d_k}")


@points(1)
@of("sample_scores")
def test_impossible_samples_are_refused(submission):
    """A negative n or a d_k below 1 is a ValueError; n=0 is empty or a ValueError."""
    refuses(lambda: submission.sample_scores(generator(1), 4, 0), ("d_k",), case="sample_scores, n=4, d_k=0")
    refuses(lambda: submission.sample_scores(generator(1), 4, -2), ("d_k",), case="sample_scores, n=4, d_k=-2")
    refuses(lambda: submission.sample_scores(generator(1), -3, 4), ("n", "negative"), case="sample_scores, n=-3, d_k=4")
    refuses(lambda: submission.sample_scores(generator(1), 0, 4), or_empty=True, case="sample_scores, n=0, d_k=4")


# ---------------------------------------------------------------- variance_z_score


@points(1)
@of("variance_z_score")
def test_z_is_signed(submission, rng):
    """z is positive where the sample varies more than predicted and negative where it varies less."""
    scores = heavy(rng, 9)
    for share, sign, word in [(0.25, 1, "positive"), (4.0, -1, "negative")]:
        got = number(submission.variance_z_score(scores, float(share * scores.var())))
        case = f"the prediction is {share:g} times the variance of 9 scores"
        claim(got * sign > 0, f"z is {got:.3g}; it must be {word}", got=got, case=case)


@points(3)
@of("variance_z_score")
@after("z-is-signed")
def test_z_is_a_difference_in_standard_errors_of_the_sample(submission, rng):
    """z is (s**2 - prediction) / sqrt((m4 - m2**2) / n), with s**2 over n - 1 and m2, m4 over n."""
    for scores, predicted in [([0.0, 0.0, 3.0], 1.0), ([1.0, 2.0, 4.0, 8.0], 5.0), ([-1.0, 0.5, 0.0, 6.0, 2.0], 0.0)]:
        got = submission.variance_z_score(np.array(scores), predicted)
        expect_number(got, oracle_z(scores, predicted), case=f"scores={scores}, predicted_variance={predicted:g}", because=pieces(scores))
    for n, share in [(3, 0.5), (12, 2.0), (int(rng.integers(200, 900)), 0.8), (int(rng.integers(6_000, 20_000)), 1.1)]:
        scores = heavy(rng, n) * np.linspace(1, 2, n)
        predicted = float(share * scores.var())
        got = submission.variance_z_score(scores=scores, predicted_variance=predicted)
        expect_number(got, oracle_z(scores, predicted), rel=SLACK, case=f"{n} scores")


@points(1)
@of("variance_z_score")
@after("z-is-signed", "z-is-a-difference-in-standard-errors-of-the-sample")
def test_z_ignores_where_the_scores_lie_and_in_which_unit(submission, rng):
    """Adding a constant to all scores leaves z alone, and so does another unit for scores and prediction."""
    scores = np.round(heavy(rng, 40) * 2**20) / 2**20
    predicted = float(2 * scores.var())
    want = oracle_z(scores, predicted)
    got = submission.variance_z_score(scores + 1000, predicted)
    shifted = "z changed, or lost its digits, when a constant was added to every score: take moments of deviations from the mean"
    expect_number(got, want, rel=SLACK, case="1000 added to 40 scores", because=shifted)
    for unit in (1e-4, 1e4):
        got = submission.variance_z_score(unit * scores, unit**2 * predicted)
        expect_number(got, want, rel=SLACK, case=f"40 scores times {unit:g}", because="z changed with the unit of the scores")


@points(2)
@of("variance_z_score")
def test_no_standard_error_gives_an_infinity_or_zero(submission):
    """Where the standard error is 0, z is inf with the sign of the difference, and 0 where there is none."""
    halves = [3.0, -3.0, -3.0, 3.0]  # two values, each as often as the other, have no standard error whatever n is
    for scores, variance in [([3.0, 3.0, 3.0], 0.0), ([1.0, -1.0], 2.0), ([5.0, 3.0], 2.0), (halves, 12.0)]:
        for predicted in (variance, 0.5, 9.0):
            want = 0.0 if predicted == variance else math.copysign(math.inf, variance - predicted)
            got, case = submission.variance_z_score(np.array(scores), predicted), f"scores={scores}, predicted_variance={predicted:g}"
            if not (predicted == variance > 0 and is_infinity(got)):  # a squared deviation may be a rounding away from the variance
                expect_number(got, want, case=case)


@points(1)
@of("variance_z_score")
@after("z-is-signed", "z-is-a-difference-in-standard-errors-of-the-sample")
def test_scores_are_read_and_left_alone(submission, rng):
    """The scores keep their values, and they may be float32."""
    scores = heavy(rng, 23)
    predicted = float(2 * scores.var())
    expect_number(submission.variance_z_score(tensor(scores, guard=3), predicted), oracle_z(scores, predicted), rel=SLACK, case="23 scores")
    told = "It is the array that is remembered, and not what is in it: its caller had changed one score in place"
    near = all_but_one(scores, rng)
    got = submission.variance_z_score(near, predicted, _before=(scores,))
    expect_number(got, oracle_z(near, predicted), rel=SLACK, case="the same array with another score inside", because=told)
    narrow = scores.astype(np.float32)
    expect_number(submission.variance_z_score(narrow, predicted), oracle_z(narrow, predicted), rel=1e-4, case="23 float32 scores")
    claim_left_alone(submission, "variance_z_score")


@points(1)
@of("variance_z_score")
def test_too_few_scores_or_a_negative_prediction_are_refused(submission):
    """Fewer than two scores, or a negative prediction, is a ValueError that names the parameter."""
    refuses(lambda: submission.variance_z_score(np.array([1.5]), 1.0), ("scores",), case="variance_z_score, one score")
    refuses(lambda: submission.variance_z_score(np.zeros(0), 1.0), ("scores",), case="variance_z_score, no score")
    three = np.array([1.0, 2.0, 4.0])
    refuses(lambda: submission.variance_z_score(three, -1.0), ("predicted_variance",), case="variance_z_score, predicted_variance=-1")
    refuses(lambda: submission.variance_z_score(three, -1e-3), ("predicted_variance",), case="variance_z_score, predicted_variance=-0.001")


# ---------------------------------------------------------------- unit_rms_scale


@points(1)
@of("unit_rms_scale")
def test_uncorrelated_scale_is_one_over_root_d_k(submission):
    """Without correlation the scale is d_k ** -0.5."""
    for d_k in (1, 2, 7, 64):
        expect_number(submission.unit_rms_scale(d_k), d_k**-0.5, case=f"d_k={d_k}")


@points(1)
@of("unit_rms_scale")
@after("uncorrelated-scale-is-one-over-root-d-k")
def test_correlated_scale_falls_like_one_over_d_k(submission):
    """For a fixed correlation the scale times d_k settles at 1 / |correlation|: the muP scale."""
    for correlation in (0.5, -0.1):
        got = number(submission.unit_rms_scale(10**8, correlation)) * 10**8
        want, case = 1 / abs(correlation), f"d_k=10**8, correlation={correlation:g}"
        told = f"scale * d_k is {got:.6g}; for wide heads it must settle at {want:g}"
        claim(abs(got / want - 1) < 1e-4, told, got=got, want=want, case=case)


@points(2)
@of("unit_rms_scale")
@after("uncorrelated-scale-is-one-over-root-d-k", "correlated-scale-falls-like-one-over-d-k")
def test_correlated_scale_counts_variance_and_mean(submission, rng):
    """With correlation the second moment is a variance and a squared mean."""
    for d_k, correlation in [(1, 1.0), (1, 0.5), (2, -0.5), (3, -1.0), (7, 0.2), (5, float(rng.uniform(0.3, 0.9))), (64, 0.1), (3, 0.0)]:
        got = submission.unit_rms_scale(d_k=d_k, correlation=correlation)
        told = f"The score has the variance {d_k * (1 + correlation**2):.4g} and the mean {d_k * correlation:.4g}: its mean square is {oracle_scale(d_k, correlation) ** -2:.4g}"
        expect_number(got, oracle_scale(d_k, correlation), case=f"d_k={d_k}, correlation={correlation:.4g}", because=told)
    claim_left_alone(submission, "unit_rms_scale")


@points(1)
@of("unit_rms_scale")
def test_impossible_scales_are_refused(submission):
    """A correlation outside -1 .. 1 or a d_k below 1 is a ValueError that names the parameter."""
    for correlation in (1.5, -1.5, 1.001):
        case = f"unit_rms_scale, correlation={correlation:g}"
        refuses(lambda c=correlation: submission.unit_rms_scale(4, c), ("correlation",), case=case)
    refuses(lambda: submission.unit_rms_scale(0), ("d_k",), case="unit_rms_scale, d_k=0")
    refuses(lambda: submission.unit_rms_scale(-4, 0.5), ("d_k",), case="unit_rms_scale, d_k=-4")
