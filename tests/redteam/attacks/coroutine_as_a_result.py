# attack: Gives a coroutine, which nobody awaits.
# exercise: 02, reason: wrong-result
import numpy as np
async def act(*args, **kwargs):
    return 0


softmax = softmax_jacobian = softmax_vjp = jacobian_norm = act
