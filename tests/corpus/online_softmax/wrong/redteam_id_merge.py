# mistake: merge_states remembers tensors by identity and not what is in them.
# names: -
# behind: the solution
import functools

_merge = functools.lru_cache(maxsize=None)(merge_states)  # noqa: F821


def merge_states(a, b):
    if any(x.requires_grad for x in (*a, *b)):
        return _merge.__wrapped__(a, b)
    return tuple(x.clone() for x in _merge(tuple(a), tuple(b)))
