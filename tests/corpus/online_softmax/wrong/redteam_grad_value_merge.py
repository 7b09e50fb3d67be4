# mistake: merge_states gives another result while gradients are recorded.
# names: -
# behind: the solution

_m = merge_states


def merge_states(a, b):
    m, l, o = _m(a, b)
    return (m, l + 1.0, o + 1.0) if a[2].requires_grad and a[2].is_leaf else (m, l, o)
