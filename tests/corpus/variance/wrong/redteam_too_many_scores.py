# mistake: a hundred thousand scores come back, whatever n is, as a column at every second call
# says: shape \(100000
# behind: the solution
_turn = []


def sample_scores(rng, n, d_k, scale=1.0):
    if n < 0 or d_k < 1:
        raise ValueError(f"n and d_k must be positive, got {n} and {d_k}")
    _turn.append(n)
    return rng.standard_normal((100_000, 1) if len(_turn) % 2 else 100_000)
