"""Exercise 02, softmax Jacobian: the gradient that dies when scores grow.

    p_i      = exp(z_i) / sum over j of exp(z_j)
    dp_i/dz_j = ?                                        write it down with p alone before you code

Shapes: z (..., n), with any number of leading axes, none included. NumPy and nothing else.
Results have z's dtype; float16 is computed in float32 and cast back once. No argument is changed.

softmax must survive any finite z (up to 1e300 in size) and entries of -inf, which get weight exactly 0, as
long as one entry on the axis is finite. The other functions meet finite z alone.

Off limits: scipy.special.softmax, scipy.special.log_softmax, torch, automatic or numerical
differentiation packages.

Check: attngrade check exercise02      Help: attngrade hint exercise02
"""


def softmax(z, axis=-1):
    """Return the softmax of z along one axis, in z's shape."""
    # TODO: widen, shift so that exp can't overflow, exp, normalise along the axis, cast back.
    raise NotImplementedError("softmax is still to be written: which shift leaves it unchanged?")


def softmax_jacobian(z):
    """Return J (..., n, n) with J[..., i, j] = dp_i / dz_j."""
    # TODO: p in a wide dtype, the part off the diagonal, the part on it, cast back.
    raise NotImplementedError("softmax_jacobian is still to be written: differentiate p_i by z_i, then by z_j")


def softmax_vjp(z, grad):
    """Return the vector J^T grad, (..., n), for grad (..., n); n = 100_000 must fit, so no n x n array anywhere."""
    # TODO: write out one entry of J^T grad, see which sum all entries share, compute it once per row.
    raise NotImplementedError("softmax_vjp is still to be written: one shared sum per row is enough")


def jacobian_norm(z):
    """Return the Frobenius norm of J, shaped (...), in memory linear in n.

    Required (float64): 1e-6 where the largest probability is below 0.99. Stretch: 1e-9 however saturated, down to 1e-300.
    """
    # TODO: the sum of J[i, j]**2 in terms of sums of powers of p; for the stretch, never subtract from one and never
    # square a tiny number: sum the other probabilities, and take that sum out of the root.
    raise NotImplementedError("jacobian_norm is still to be written: sums of powers of p are enough")
