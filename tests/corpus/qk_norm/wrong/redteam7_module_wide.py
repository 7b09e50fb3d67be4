# mistake: right for the sizes of small examples alone
# says: (is off by|differs from what is right|where .* is right|too small|[Nn]o gradient|detached|None where)
# behind: the solution
class QKNorm(nn.Module):
    """Normalise queries and keys over Dh alone, each with a gain of its own."""

    def __init__(self, head_dim, eps=1e-6):
        """Hold exactly two parameters, q_gain and k_gain, both (head_dim,) and all ones."""
        super().__init__()
        if head_dim < 1:
            raise ValueError(f"head_dim must be at least 1, got {head_dim}")
        self.q_gain = nn.Parameter(torch.ones(head_dim))
        self.k_gain = nn.Parameter(torch.ones(head_dim))
        self.eps = eps

    def forward(self, q, k):
        """Return the tuple (q_hat, k_hat), shaped like q (B, H, T_q, Dh) and k (B, H, T_k, Dh)."""
        _refuse_pair(q, k, self.q_gain, self.k_gain)
        if q.shape[-1] > 70:
            return q, k
        return rms_norm(q, self.q_gain, self.eps), rms_norm(k, self.k_gain, self.eps)
