# attack: Gives an array whose every entry is masked, for a comparison that skips those.
# exercise: 02, reason: wrong-result
import numpy as np
def act(z, *args, **kwargs):
    return np.ma.masked_all(z.shape)


softmax = softmax_jacobian = softmax_vjp = jacobian_norm = act
