# attack: Hides the wrong part in an imaginary part, for a comparison that drops it.
# exercise: 02, reason: wrong-result
import numpy as np
def act(z, *args, **kwargs):
    return np.full(z.shape, 1j)


softmax = softmax_jacobian = softmax_vjp = jacobian_norm = act
