# mistake: merge_states loses o where it has five axes.
# names: -
# behind: the solution

_m = merge_states


def merge_states(a, b):
    m, l, o = _m(a, b)
    return (m, l, o if o.dim() < 5 else o * 0)
