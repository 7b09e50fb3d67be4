# mistake: the Jacobian of a row of more than 64 scores is only its diagonal
# says: z of shape \(2, 
# behind: the solution
_whole = softmax_jacobian


def softmax_jacobian(z):
    j = _whole(z)
    return j * np.eye(j.shape[-1], dtype=j.dtype) if j.shape[-1] > 64 else j
