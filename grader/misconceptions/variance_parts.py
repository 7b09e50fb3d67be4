"""A piece that the wrong answers of exercise 01 share."""


def refuse_width(d_k):
    if d_k < 1:
        raise ValueError(f"d_k must be at least 1, got {d_k}")
