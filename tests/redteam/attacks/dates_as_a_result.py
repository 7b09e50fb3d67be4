# attack: Gives dates where numbers are asked.
# exercise: 02, reason: wrong-result
import numpy as np
def act(z, *args, **kwargs):
    return np.zeros(z.shape, "M8[ns]")


softmax = softmax_jacobian = softmax_vjp = jacobian_norm = act
