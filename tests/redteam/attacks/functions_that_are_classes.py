# attack: Defines classes where functions are asked.
# exercise: 02, reason: wrong-result
import numpy as np



class softmax:
    pass


class softmax_jacobian:
    def __init__(self, *args, **kwargs):
        pass


class softmax_vjp(softmax_jacobian):
    pass


class jacobian_norm(softmax_jacobian):
    def __call__(self, *args):
        return 0.0
