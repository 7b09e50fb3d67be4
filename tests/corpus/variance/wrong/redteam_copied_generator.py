# mistake: the draws come from a copy of the generator, which stays where it was: a second call with it gives the same scores
# says: same generator gave the same scores
# behind: the solution
import copy

_drawn = sample_scores


def sample_scores(rng, n, d_k, scale=1.0):
    return _drawn(copy.deepcopy(rng), n, d_k, scale)
