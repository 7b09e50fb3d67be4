"""Exercise 01: soft-capped scores.

    softcap(x) = cap * tanh(x / cap)        |softcap(x)| <= cap

Check: attngrade check exercise01 --pack THIS_FOLDER        Help: attngrade hint exercise01 --pack THIS_FOLDER
"""



def softcap(x, cap):
    """The array x, squashed into [-cap, cap], same shape and dtype; a cap that isn't positive is a ValueError."""
    # TODO: refuse a bad cap, bring x to the scale of tanh, squash, and come back.
    raise NotImplementedError("softcap has to squash x into [-cap, cap]")
