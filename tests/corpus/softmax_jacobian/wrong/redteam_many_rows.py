# mistake: beyond 64 rows all rows have the first gradient
# says: z and grad of shape
# behind: the solution
_whole = softmax_vjp


def softmax_vjp(z, grad):
    out = _whole(z, grad)
    return out if z.size // max(z.shape[-1], 1) <= 64 else np.broadcast_to(out.reshape(-1, z.shape[-1])[0], z.shape).copy()
