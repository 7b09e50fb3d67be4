"""Exercise 01, claim by claim. Every statistical threshold is argued beside the statistic; all together fail a right answer < 1e-7."""

import math

import numpy as np

from attngrade.checks.claims import after, claim, expect, expect_number, expect_same, generator, number, of, points, refuses, tensor

SUM_OF_SQUARES = 7.0  # standard errors: mean squares of q . k have light enough tails that 7 is passed once in 1e10
MANY, WIDE = 48, 96  # calls, and draws in each: the tables of the two checks about independence
PITCH = 1.25  # cos(PITCH * score) is bounded, has a known mean and shows a shared |q| or |k| best


def seeds(rng, count):
    return [int(seed) for seed in rng.choice(2**31, size=count, replace=False)]


def pair(got, case):
    claim(isinstance(got, tuple) and len(got) == 2, "score_moments must return the tuple (mean, variance)", got=got, case=case)
    return got


def expect_moments(got, mean, variance, case, because=None):
    got_mean, got_variance = pair(got, case)
    expect_number(got_mean, mean, atol=1e-12, case=f"mean, {case}")
    expect_number(got_variance, variance, atol=1e-12, case=f"variance, {case}", because=because)


def oracle_moments(d_k, mean_q, var_q, mean_k, var_k):
    second_moment = (var_q + mean_q**2) * (var_k + mean_k**2)
    return d_k * mean_q * mean_k, d_k * (second_moment - (mean_q * mean_k) ** 2)


def oracle_z(scores, predicted):
    values = [float(score) for score in scores]
    n = len(values)
    mean = math.fsum(values) / n
    m2 = math.fsum((value - mean) ** 2 for value in values) / n
    m4 = math.fsum((value - mean) ** 4 for value in values) / n
    return (m2 * n / (n - 1) - predicted) / math.sqrt((m4 - m2**2) / n)


def oracle_scale(d_k, correlation):
    return 1 / math.sqrt(d_k * (1 + correlation**2) + (correlation * d_k) ** 2)


def draws(submission, rng, calls, n, d_k, *scale):
    """A table (calls, n) of scores, one generator a row."""
    rows = [submission.sample_scores(generator(seed), n, d_k, *scale) for seed in seeds(rng, calls)]
    for row in rows:
        expect(row, np.zeros(n), dtype="float64", tol=np.inf, scale=1.0, case=f"n={n}, d_k={d_k}")
    return np.stack([row.array for row in rows])


def waves(table):
    """Bounded, mean 0 and variance 1 for independent draws at d_k = 1: E cos(t s) = (1 + t**2) ** -0.5."""
    mean, double = (1 + PITCH**2) ** -0.5, (1 + 4 * PITCH**2) ** -0.5
    return (np.cos(PITCH * table) - mean) / math.sqrt((1 + double) / 2 - mean**2)


# ---------------------------------------------------------------- score_moments


@points(1)
@of("score_moments")
def test_standard_scores_have_mean_zero_and_variance_d_k(submission):
    """With standard components the mean is 0 and the variance is d_k."""
    for d_k in (1, 2, 7, 64):
        expect_moments(submission.score_moments(d_k), 0.0, d_k, f"d_k={d_k}")


@points(1)
@of("score_moments")
@after("standard-scores-have-mean-zero-and-variance-d-k")
def test_variances_multiply_and_terms_add(submission, rng):
    """With zero means the variance is d_k times the product of the two variances."""
    for d_k, var_q, var_k in [(1, 4.0, 1.0), (1, 1.0, 0.25), (3, 5.0, 0.5), (1, 0.0, 2.0), (5, *rng.uniform(0.2, 4.0, 2))]:
        case = f"d_k={d_k}, var_q={var_q:.4g}, var_k={var_k:.4g}"
        expect_moments(submission.score_moments(d_k, var_q=float(var_q), var_k=float(var_k)), 0.0, d_k * var_q * var_k, case)


@points(1)
@of("score_moments")
def test_mean_is_d_k_times_both_means(submission, rng):
    """The mean is d_k * mean_q * mean_k, with its sign."""
    for d_k, mean_q, mean_k in [(1, 2.0, 3.0), (4, 0.5, -3.0), (7, *rng.uniform(-3.0, -1.0, 2))]:
        case = f"d_k={d_k}, mean_q={mean_q:.4g}, mean_k={mean_k:.4g}"
        mean, _ = pair(submission.score_moments(d_k, mean_q=float(mean_q), mean_k=float(mean_k)), case)
        expect_number(mean, d_k * mean_q * mean_k, case=f"mean, {case}")


@points(2)
@of("score_moments")
@after("variances-multiply-and-terms-add")
def test_each_mean_adds_a_variance_term(submission, rng):
    """A mean on one side lets the variance of the other side through: two extra terms."""
    table = [(1, 0.0, 0.5, 3.0, 2.0), (1, 3.0, 0.5, 0.0, 2.0), (1, 2.0, 1.0, -3.0, 1.0), (3, -2.0, 0.5, 1.5, 3.0), (6, 2.0, 0.0, -0.5, 4.0)]
    table += [(d_k, *rng.uniform(-2, 2, 1), *rng.uniform(0.2, 3, 1), *rng.uniform(-2, 2, 1), *rng.uniform(0.2, 3, 1)) for d_k in (5, 11)]
    for d_k, *numbers in table:
        mean_q, var_q, mean_k, var_k = (float(value) for value in numbers)
        case = f"d_k={d_k}, mean_q={mean_q:.4g}, var_q={var_q:.4g}, mean_k={mean_k:.4g}, var_k={var_k:.4g}"
        mean, variance = oracle_moments(d_k, mean_q, var_q, mean_k, var_k)
        expect_moments(submission.score_moments(d_k, mean_q, var_q, mean_k, var_k), mean, variance, case)


@points(1)
@of("score_moments")
def test_impossible_moments_are_refused(submission):
    """A d_k below 1 or a negative variance is a ValueError that names the parameter."""
    refuses(lambda: submission.score_moments(0), ("d_k",), case="score_moments, d_k=0")
    refuses(lambda: submission.score_moments(-3), ("d_k",), case="score_moments, d_k=-3")
    refuses(lambda: submission.score_moments(4, var_q=-1.0), ("var_q",), case="score_moments, var_q=-1")
    refuses(lambda: submission.score_moments(4, var_k=-0.5), ("var_k",), case="score_moments, var_k=-0.5")
    refuses(lambda: submission.score_moments(2, 1.0, -2.0, 1.0, -3.0), ("var_q", "var_k"), case="score_moments, var_q=-2 and var_k=-3")


# ---------------------------------------------------------------- sample_scores


@points(1)
@of("sample_scores")
def test_scores_come_as_one_float64_vector(submission, rng):
    """n scores come back as a float64 array of shape (n,), with all of float64's digits."""
    for n, d_k in [(1, 1), (1, 6), (2, 1), (5, 3), (3, 8)]:
        draws(submission, rng, 1, n, d_k)
    scores = submission.sample_scores(rng=generator(seeds(rng, 1)[0]), n=200, d_k=3, scale=1.0)
    expect(scores, np.zeros(200), dtype="float64", tol=np.inf, scale=1.0, case="n=200, d_k=3")
    claim((scores.array.astype(np.float32) != scores.array).any(), "every score is a float32 number: draw and multiply in float64", got=scores,
          case="n=200, d_k=3")


@points(1)
@of("sample_scores")
def test_all_randomness_comes_from_the_generator(submission, rng):
    """The same generator gives the same scores, another one gives others, and no global generator is touched."""
    first, second = seeds(rng, 2)
    one = submission.sample_scores(generator(first), 7, 3)
    touched = submission.touched(one)
    claim(not touched, f"global state changed during the call: {', '.join(touched)}; draw from the `rng` that is passed in", got=one)
    other = submission.sample_scores(generator(second), 7, 3)
    again = submission.sample_scores(generator(first), 7, 3)
    expect_same(again, one, case="two generators in the same state", because="Equal generators must give equal scores: some randomness isn't from `rng`")
    claim((other.array != one.array).all(), "generators with different seeds gave equal scores: the scores must come from `rng`", got=other, case="n=7, d_k=3")


@points(1)
@of("sample_scores")
def test_each_call_returns_scores_of_its_own(submission, rng):
    """A later call leaves the scores of an earlier one as they were."""
    first, second, third = seeds(rng, 3)
    kept = submission.sample_scores(generator(first), 6, 2, _keep=True)
    submission.sample_scores(generator(second), 6, 2)
    expect_same(submission.reread(kept), kept, case="after a second call of the same size", because="A second call overwrote the scores of the first")
    submission.scribble(kept)
    again = submission.sample_scores(generator(first), 6, 2)
    expect_same(again, kept, case="after the caller wrote into an earlier result", because="Two calls share one array")
    fresh = submission.sample_scores(generator(third), 6, 2)
    claim((fresh.array != kept.array).all(), "a new generator gave the scores of an earlier call", got=fresh, case="n=6, d_k=2")


@points(2)
@of("sample_scores")
@after("scores-come-as-one-float64-vector")
def test_scores_have_mean_zero_and_variance_d_k_scale_squared(submission, rng):
    """The scores have mean 0 and variance scale**2 * d_k."""
    for d_k, scale in [(3, None), (64, None), (5, 3.0), (16, 0.25), (7, -0.5), (3, 0.0)]:
        table = draws(submission, rng, 3, 2000, d_k, *([] if scale is None else [scale])).reshape(-1)
        variance = (1.0 if scale is None else scale**2) * d_k
        case = f"{table.size} draws, d_k={d_k}" + ("" if scale is None else f", scale={scale:g}")
        seen, error = float(np.mean(table**2)), math.sqrt((2 + 6 / d_k) / table.size)
        mean, mean_error = float(table.mean()), math.sqrt(variance / table.size)
        claim(abs(mean) <= SUM_OF_SQUARES * mean_error, f"the mean of the scores is {mean:.3g}, {abs(mean) / (mean_error or 1):.0f} standard errors from 0",
              got=mean, want=0.0, case=case)
        claim(abs(seen - variance) <= SUM_OF_SQUARES * error * variance, f"the scores have mean square {seen:.4g} where {variance:.4g} is right", got=seen,
              want=variance, case=case)


@points(2)
@of("sample_scores")
@after("scores-come-as-one-float64-vector", "scores-have-mean-zero-and-variance-d-k-scale-squared")
def test_scores_have_the_tails_of_a_sum_of_products(submission, rng):
    """At d_k=2 a share exp(-x) of the scores is larger than x in size, half of them on each side of 0."""
    scores = draws(submission, rng, 8, 2000, 2).reshape(-1)
    above, size = float(np.mean(scores > 0)), np.sort(np.abs(scores))
    claim(abs(above - 0.5) <= 0.026, f"a share {above:.3f} of the scores is positive where half is right", got=above, want=0.5, case="d_k=2")  # Hoeffding: 1e-9
    gap = np.abs(np.exp(-size) - (1 - (np.arange(size.size) + 0.5) / size.size))
    worst = int(gap.argmax())
    share = 1 - (worst + 0.5) / size.size
    claim(gap[worst] <= 0.026, f"a share {share:.3f} of the scores is larger than {size[worst]:.2f} in size where {math.exp(-size[worst]):.3f} is right: the tails of "
          "a short sum of products of normal numbers, not of anything else with that variance", got=share, want=math.exp(-size[worst]), case="d_k=2")  # DKW: 1e-9


@points(3)
@of("sample_scores")
@after("scores-come-as-one-float64-vector", "all-randomness-comes-from-the-generator")
def test_draws_of_one_call_are_independent(submission, rng):
    """No draw tells anything about another draw of the same call."""
    table = draws(submission, rng, MANY, WIDE, 1)
    case = f"{MANY} calls, n={WIDE}, d_k=1"
    ties = table.size - np.unique(np.abs(table)).size
    claim(ties < 3, f"{ties} scores repeat another score exactly: every draw needs a fresh q and a fresh k", got=ties, want=0, case=case)
    claim(np.ptp(table.mean(axis=1)) > 1e-9 and np.ptp(table.var(axis=1)) > 1e-9, "every call has the same sample mean or variance: independent draws scatter",
          case=case)
    wave = waves(table)
    together = float(np.sum(wave.sum(axis=1) ** 2) / WIDE)  # chi-square with MANY degrees of freedom: > 140 once in 1e10
    claim(together <= 140, f"the draws of one call are large together and small together ({together / MANY:.1f} times the scatter of independent draws): no q and "
          "no k may serve two draws", got=together / MANY, want=1.0, case=case)
    for lag in range(1, WIDE // 2 + 1):
        echo = float(np.sum(wave[:, :-lag] * wave[:, lag:])) / math.sqrt(MANY * (WIDE - lag))
        claim(abs(echo) <= 7.5, f"draws {lag} apart depend on each other ({abs(echo):.0f} standard errors): no q and no k may serve two draws", got=echo, want=0.0,
              case=case)
    signs = np.sign(table).prod(axis=1)
    claim(abs(signs.sum()) < MANY, f"the product of a call's {WIDE} signs is the same in all {MANY} calls: every q and every k seems to serve an even number of "
          "draws", case=case)


@points(1)
@of("sample_scores")
@after("scores-come-as-one-float64-vector", "all-randomness-comes-from-the-generator")
def test_calls_with_different_generators_are_independent(submission, rng):
    """No call tells anything about a call with another generator."""
    table = draws(submission, rng, MANY, WIDE, 1)
    together = float(np.sum(waves(table).sum(axis=0) ** 2) / MANY)  # chi-square with WIDE degrees of freedom: > 215 once in 1e10
    claim(together <= 215, f"draw i of one call and draw i of another are large together ({together / WIDE:.1f} times the scatter of independent draws): part of "
          "the randomness isn't from `rng`", got=together / WIDE, want=1.0, case=f"{MANY} calls, n={WIDE}, d_k=1")


@points(1)
@of("sample_scores")
def test_impossible_samples_are_refused(submission):
    """A negative n or a d_k below 1 is a ValueError; n=0 is empty or a ValueError."""
    refuses(lambda: submission.sample_scores(generator(1), 4, 0), ("d_k",), case="sample_scores, n=4, d_k=0")
    refuses(lambda: submission.sample_scores(generator(1), 4, -2), ("d_k",), case="sample_scores, n=4, d_k=-2")
    refuses(lambda: submission.sample_scores(generator(1), -3, 4), ("n", "negative"), case="sample_scores, n=-3, d_k=4")
    refuses(lambda: submission.sample_scores(generator(1), 0, 4), (), or_empty=True, case="sample_scores, n=0, d_k=4")


# ---------------------------------------------------------------- variance_z_score


def heavy(rng, n):
    """A skewed, heavy-tailed sample with a mean of its own, as scores of one narrow head are."""
    return rng.standard_normal(n) * rng.standard_normal(n) + 0.3 * rng.standard_normal(n) ** 2 + 0.7


@points(3)
@of("variance_z_score")
def test_z_is_a_difference_in_standard_errors_of_the_sample(submission, rng):
    """z is (s**2 - prediction) / sqrt((m4 - m2**2) / n), with s**2 over n-1 and m2, m4 over n."""
    for scores, predicted in [([0.0, 0.0, 3.0], 1.0), ([1.0, 2.0, 4.0, 8.0], 5.0), ([-1.0, 0.5, 0.0, 6.0, 2.0], 0.0)]:
        got = submission.variance_z_score(np.array(scores), predicted)
        expect_number(got, oracle_z(scores, predicted), case=f"scores={scores}, predicted_variance={predicted:g}")
    for n, share in [(3, 0.5), (12, 2.0), (101, 0.8)]:
        scores = heavy(rng, n)
        predicted = float(share * scores.var())
        expect_number(submission.variance_z_score(scores=scores, predicted_variance=predicted), oracle_z(scores, predicted), rel=1e-8, case=f"n={n}")


@points(1)
@of("variance_z_score")
@after("z-is-a-difference-in-standard-errors-of-the-sample")
def test_z_is_signed(submission, rng):
    """z is positive where the sample varies more than predicted and negative where it varies less."""
    scores = heavy(rng, 9)
    for predicted, sign, word in [(0.25 * scores.var(), 1, "quarter"), (4 * scores.var(), -1, "fourfold")]:
        got = number(submission.variance_z_score(scores, float(predicted)))
        claim(got * sign > 0, f"z is {got:.3g}; it must be {'positive' if sign > 0 else 'negative'}: the prediction was the {word} of the sample's variance", got=got)


@points(1)
@of("variance_z_score")
@after("z-is-a-difference-in-standard-errors-of-the-sample")
def test_z_ignores_where_the_scores_lie_and_in_which_unit(submission, rng):
    """Adding a constant to all scores leaves z alone, and so does another unit for scores and prediction."""
    scores = heavy(rng, 40)
    predicted = float(2 * scores.var())
    want = oracle_z(scores, predicted)
    shifted = np.round(scores * 2**20) / 2**20 + 1000
    expect_number(submission.variance_z_score(shifted, predicted), oracle_z(shifted - 1000, predicted), rel=1e-8, case="scores near 1000",
                  because="z changed when 1000 was added to every score: take central moments, of deviations from the sample's mean")
    for unit in (1e-3, 1e4):
        expect_number(submission.variance_z_score(unit * scores, unit**2 * predicted), want, rel=1e-8, case=f"scores in units of {1 / unit:g}",
                      because="z changed with the unit of the scores")


@points(2)
@of("variance_z_score")
def test_no_standard_error_gives_an_infinity_or_zero(submission):
    """Where the standard error is 0, z is inf with the sign of the difference, and 0 where there is none."""
    for scores, variance in [([3.0, 3.0, 3.0], 0.0), ([1.0, -1.0], 2.0), ([5.0, 1.0, 1.0, 5.0, 5.0, 1.0, 1.0, 5.0, 1.0, 5.0, 1.0, 5.0, 1.0, 5.0, 1.0, 5.0], None)]:
        for predicted in (variance, 0.5, 9.0):
            if predicted is not None:
                difference = np.var(scores, ddof=1) - predicted
                want = math.copysign(math.inf, difference) if difference else 0.0
                expect_number(submission.variance_z_score(np.array(scores), predicted), want, case=f"scores={scores}, predicted_variance={predicted:g}")


@points(1)
@of("variance_z_score")
@after("z-is-a-difference-in-standard-errors-of-the-sample")
def test_scores_are_read_and_left_alone(submission, rng):
    """The scores keep their values and may be float32 or lie strided in memory."""
    scores = heavy(rng, 23)
    predicted = float(2 * scores.var())
    expect_number(submission.variance_z_score(tensor(scores, guard=3), predicted), oracle_z(scores, predicted), rel=1e-8, case="n=23")
    claim(not submission.mutated(), "the call changed the scores that it was given: work on a copy")
    touched = submission.touched()
    claim(not touched, f"global state changed during the call: {', '.join(touched)}")
    narrow = scores.astype(np.float32)
    expect_number(submission.variance_z_score(narrow, predicted), oracle_z(narrow, predicted), rel=1e-4, case="n=23, float32 scores")


@points(1)
@of("variance_z_score")
def test_fewer_than_two_scores_are_refused(submission):
    """Fewer than two scores, or a negative prediction, is a ValueError that names the parameter."""
    refuses(lambda: submission.variance_z_score(np.array([1.5]), 1.0), ("scores",), case="variance_z_score, one score")
    refuses(lambda: submission.variance_z_score(np.zeros(0), 1.0), ("scores",), case="variance_z_score, no score")
    refuses(lambda: submission.variance_z_score(np.array([1.0, 2.0, 4.0]), -1.0), ("predicted_variance",), case="variance_z_score, predicted_variance=-1")


# ---------------------------------------------------------------- unit_rms_scale


@points(1)
@of("unit_rms_scale")
def test_uncorrelated_scale_is_one_over_root_d_k(submission):
    """Without correlation the scale is d_k ** -0.5."""
    for d_k in (1, 2, 7, 64):
        expect_number(submission.unit_rms_scale(d_k), d_k**-0.5, case=f"d_k={d_k}")


@points(2)
@of("unit_rms_scale")
@after("uncorrelated-scale-is-one-over-root-d-k")
def test_correlated_scale_counts_variance_and_mean(submission, rng):
    """With correlation the second moment is a variance and a squared mean."""
    for d_k, correlation in [(1, 1.0), (1, 0.5), (2, -0.5), (3, -1.0), (7, 0.2), (5, float(rng.uniform(0.3, 0.9))), (64, 0.1), (1, 0.0)]:
        got = submission.unit_rms_scale(d_k=d_k, correlation=correlation)
        expect_number(got, oracle_scale(d_k, correlation), case=f"d_k={d_k}, correlation={correlation:.4g}")


@points(1)
@of("unit_rms_scale")
@after("uncorrelated-scale-is-one-over-root-d-k", "correlated-scale-counts-variance-and-mean")
def test_correlated_scale_falls_like_one_over_d_k(submission):
    """For a fixed correlation the scale times d_k settles at 1 / |correlation|: the muP scale."""
    for correlation in (0.5, -0.1):
        got = number(submission.unit_rms_scale(10**8, correlation)) * 10**8
        claim(abs(got * abs(correlation) - 1) < 1e-4, f"scale * d_k is {got:.6g}; for wide heads it must settle at {1 / abs(correlation):g}", got=got,
              want=1 / abs(correlation), case=f"d_k=10**8, correlation={correlation:g}")


@points(1)
@of("unit_rms_scale")
def test_impossible_correlations_are_refused(submission):
    """A correlation outside -1 .. 1 or a d_k below 1 is a ValueError that names the parameter."""
    for correlation in (1.5, -1.5, 1.001):
        refuses(lambda c=correlation: submission.unit_rms_scale(4, c), ("correlation",), case=f"unit_rms_scale, correlation={correlation:g}")
    refuses(lambda: submission.unit_rms_scale(0), ("d_k",), case="unit_rms_scale, d_k=0")
    refuses(lambda: submission.unit_rms_scale(-4, 0.5), ("d_k",), case="unit_rms_scale, d_k=-4")
