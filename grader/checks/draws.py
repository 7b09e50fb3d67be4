"""Claims about random draws of s = q . k with standard normal q and k; right draws miss any of them less than once in 1e9.

Means and mean squares are compared at 7 standard errors, shares with the bounds of Hoeffding and of Dvoretzky, Kiefer and
Wolfowitz. Dependence is sought in the ranks of the scores' sizes: bounded, and they move with the size of a shared q or k, most at d_k = 1.
For independent draws their squared sums over a call (or over the calls) are close to a chi-square variable, whatever the law.
Wide heads tell little with each draw. There right draws mostly end at the first look, and only what looks wrong is drawn more of (``settled``).
"""

import math
from collections.abc import Callable

import numpy as np

from .claims import claim

STANDARD_ERRORS = 7.0
FAR_ERRORS = 7.6  # where some 10,000 distances are looked at
FEWEST = 500  # pairs that tell something of a distance
NEIGHBOURS = 8  # places
DOUBT, LOOKS = 1.0, 12  # standard errors of one look's draws after which there is another look, and how many at most
SHARE_ALLOWED = 3.3  # over the root of the number of draws
LAW = "The variance alone doesn't make the distribution: q and k must be standard normal, and multiplied"
WITHIN = "The draws of one call must be independent of each other"
BETWEEN = "Calls with different generators must be independent of each other"


def claim_moments(scores: np.ndarray, variance: float, d_k: int, case: str) -> None:
    """The scores have mean 0 and this mean square."""
    mean, square = float(scores.mean()), float(np.mean(scores**2))
    mean_allowed = STANDARD_ERRORS * math.sqrt(variance / scores.size)
    square_allowed = STANDARD_ERRORS * variance * math.sqrt((2 + 6 / d_k) / scores.size)
    claim(abs(mean) <= mean_allowed, f"The mean of the scores is {mean:.3g} where 0 is right", got=mean, want=0.0, case=case)
    told = f"The scores have variance {square:.4g} where {variance:.4g} is right"
    claim(abs(square - variance) <= square_allowed, told, got=square, want=variance, case=case)


def claim_laplace(scores: np.ndarray, case: str) -> None:
    """At d_k = 2 the scores are Laplace: half are positive, and a share exp(-x) is larger than x in size."""
    allowed = SHARE_ALLOWED / math.sqrt(scores.size)
    positive = float(np.mean(scores > 0))
    told = f"A share of {positive:.3f} of the scores is positive where half is right"
    claim(abs(positive - 0.5) <= allowed, told, got=positive, want=0.5, case=case)
    size = np.sort(np.abs(scores))
    larger = 1 - (np.arange(size.size) + 0.5) / size.size
    worst = int(np.abs(np.exp(-size) - larger).argmax())
    got, want = float(larger[worst]), math.exp(-size[worst])
    told = f"A share of {got:.3f} of the scores is larger than {size[worst]:.2f} in size where {want:.3f} is right"
    claim(abs(got - want) <= allowed, told, got=got, want=want, case=case, because=LAW)


def settled(draw: Callable[[], np.ndarray], errors: Callable[[np.ndarray], float]) -> np.ndarray:
    """A table of draws, with more of them for as long as they are neither well within what is allowed nor beyond it. What is wrong grows with the root of the looks."""
    table = draw()
    for looks in range(1, LOOKS):
        if not DOUBT * math.sqrt(looks) < errors(table) <= STANDARD_ERRORS:
            break
        table = np.concatenate([table, draw()])
    return table


def law(d_k: int) -> tuple[float, float, float]:
    """The mean of cos(t s) and its standard error for a single draw, at the t where a normal law of the same variance is most easily told apart: t first."""
    t = 2 / math.sqrt(d_k)
    want, twice = (1 + t**2) ** (-d_k / 2), (1 + 4 * t**2) ** (-d_k / 2)
    return t, want, math.sqrt((1 + twice) / 2 - want**2)


def law_errors(scores: np.ndarray, d_k: int) -> float:
    """How many standard errors the mean of cos(t s) lies from what is right."""
    t, want, spread = law(d_k)
    return abs(float(np.cos(t * scores).mean()) - want) / spread * math.sqrt(scores.size)


def claim_law(scores: np.ndarray, d_k: int, case: str) -> None:
    """The mean of cos(t s) is (1 + t**2) ** (-d_k / 2)."""
    t, want, spread = law(d_k)
    got = float(np.cos(t * scores).mean())
    told = f"The mean of cos({t:.3g} s) over the scores s is {got:.3f} where {want:.3f} is right for a sum of {d_k} products"
    claim(abs(got - want) <= STANDARD_ERRORS * spread / math.sqrt(scores.size), told, got=got, want=want, case=case, because=LAW)


def waves(table: np.ndarray) -> np.ndarray:
    """The rank of each score by size, as a bounded number; all together have mean 0 and variance 1."""
    rank = np.empty(table.size)
    rank[np.abs(table).argsort(axis=None)] = np.arange(table.size)
    return (rank.reshape(table.shape) - (table.size - 1) / 2) / math.sqrt((table.size**2 - 1) / 12)


def chi_square_limit(degrees: int) -> float:
    """What a chi-square variable passes once in 1e10 (Wilson and Hilferty)."""
    return degrees * (1 - 2 / (9 * degrees) + 6.4 * math.sqrt(2 / (9 * degrees))) ** 3


def claim_scatter(table: np.ndarray, case: str) -> None:
    """No score is exactly another one, and no call's mean or variance is forced."""
    ties = table.size - np.unique(np.abs(table)).size
    told = f"{ties} scores repeat another score exactly; every draw needs a fresh q and a fresh k"
    claim(ties < 3, told, got=ties, want=0, case=case)
    scatter = min(float(np.ptp(table.mean(axis=1))), float(np.ptp(table.var(axis=1))))
    told = "Every call has the same sample mean or the same sample variance; independent draws scatter"
    claim(scatter > 1e-9, told, got=scatter, case=case)


def claim_together(table: np.ndarray, case: str) -> None:
    """The scores of a call (a row) are not large together and small together."""
    calls, n = table.shape
    together = float(np.sum(waves(table).sum(axis=1) ** 2) / n)
    told = f"The scores of one call are large together and small together ({together / calls:.1f} times the scatter of independent draws)"
    claim(together <= chi_square_limit(calls), told, got=together / calls, want=1.0, case=case, because=WITHIN)


def swing(table: np.ndarray) -> float:
    """How much the mean squares of the calls (the rows) scatter, over what independent draws with the same squares would."""
    squares = table**2
    spread = float(squares.var())
    return float(squares.mean(axis=1).var(ddof=1)) * table.shape[1] / spread if spread > 0 else 0.0


def swing_errors(table: np.ndarray) -> float:
    """The same as standard errors of a normal variable (Wilson and Hilferty)."""
    small = 2 / (9 * (len(table) - 1))
    return float((np.cbrt(swing(table)) - 1 + small) / math.sqrt(small))


def claim_no_swing(table: np.ndarray, case: str) -> None:
    """No call (a row) has large scores or small ones throughout, as with a few queries or keys that many draws share. For wide heads, whose squares tell most."""
    told = f"The scores of one call are large together and small together ({swing(table):.1f} times the scatter of independent draws)"
    claim(swing_errors(table) <= STANDARD_ERRORS, told, got=swing(table), want=1.0, case=case, because=WITHIN)


def claim_no_echo(table: np.ndarray, reach: int, case: str) -> None:
    """No draw (a column) is large or small with one up to ``reach`` places further in its call (a row)."""
    (calls, n), wave = table.shape, waves(table)
    for lag in range(1, reach + 1):
        echo = float(np.sum(wave[:, :-lag] * wave[:, lag:])) / math.sqrt(calls * (n - lag))
        told = f"Scores {lag} places apart depend on each other ({abs(echo):.0f} standard errors)"
        claim(abs(echo) <= STANDARD_ERRORS, told, got=echo, want=0.0, case=case, because=WITHIN)


def claim_no_far_echo(table: np.ndarray, case: str) -> None:
    """No draw (a column) is large or small with one at any distance in its call (a row): draws made in pieces may not share what they are made of."""
    (calls, n), wave = table.shape, waves(table)
    spectrum = np.fft.rfft(wave, 2 * n)
    echo = np.fft.irfft(np.abs(spectrum) ** 2)[:, 1 : n - FEWEST].sum(axis=0) / np.sqrt(calls * np.arange(n - 1, FEWEST, -1))
    lag = int(np.abs(echo).argmax())
    told = f"Scores {lag + 1} places apart depend on each other ({abs(echo[lag]):.0f} standard errors)"
    claim(abs(echo[lag]) <= FAR_ERRORS, told, got=float(echo[lag]), want=0.0, case=case, because=WITHIN)


def claim_no_component_shared(table: np.ndarray, case: str) -> None:
    """The draws of a call (a row) share no component of a query or a key: all of them, or neighbours. Wider heads need more draws to tell."""
    claim_scatter(table, case)
    claim_together(table, case)
    claim_no_echo(table, NEIGHBOURS, case)


def claim_no_grid(scores: np.ndarray, d_k: int, case: str) -> None:
    """A square number of draws aren't the scores of a few queries with the same few keys, whose table has no higher rank than d_k."""
    side = math.isqrt(scores.size)
    squares = np.linalg.svd(scores.reshape(side, side), compute_uv=False) ** 2
    beyond = float(squares[d_k:].sum() / squares.sum()) if squares.sum() else 0.0
    told = f"The scores are those of {side} queries, each with the same {side} keys; every draw needs a fresh q and a fresh k"
    claim(beyond > 1e-9, told, got=beyond, case=case, because=WITHIN)


def claim_independent_within(table: np.ndarray, case: str) -> None:
    """No draw (a column) tells anything about another draw of the same call (a row)."""
    calls, n = table.shape
    claim_scatter(table, case)
    claim_together(table, case)
    claim_no_echo(table, n // 2, case)
    signs = abs(float(np.sign(table).prod(axis=1).sum()))
    told = f"The product of the signs of a call's {n} scores is the same in all {calls} calls"
    claim(signs < calls, told, got=signs / calls, case=case, because=WITHIN)


def claim_independent_between(table: np.ndarray, case: str) -> None:
    """No draw (a column, at d_k = 1) of a call (a row) tells anything about the same draw of another call."""
    calls, n = table.shape
    together = float(np.sum(waves(table).sum(axis=0) ** 2) / calls)
    told = f"Score i of one call and score i of another are large together ({together / n:.1f} times the scatter of independent draws)"
    claim(together <= chi_square_limit(n), told, got=together / n, want=1.0, case=case, because=BETWEEN)
