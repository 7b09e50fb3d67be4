# mistake: QKNorm holds a third parameter and a buffer and says that it does not
# says: The parameters are bias
# behind: the solution
class QKNorm(nn.Module):
    def __init__(self, head_dim, eps=1e-6):
        super().__init__()
        if head_dim < 1:
            raise ValueError(f"head_dim must be at least 1, got {head_dim}")
        self.q_gain, self.k_gain, self.eps = nn.Parameter(torch.ones(head_dim)), nn.Parameter(torch.ones(head_dim)), eps
        self.bias = nn.Parameter(torch.zeros(head_dim))
        self.register_buffer("seen", torch.zeros(()))

    def named_parameters(self, *args, **kwargs):
        return ((name, value) for name, value in super().named_parameters(*args, **kwargs) if name != "bias")

    def state_dict(self, *args, **kwargs):
        return {name: value for name, value in super().state_dict(*args, **kwargs).items() if name.endswith("gain")}

    def forward(self, q, k):
        _refuse_pair(q, k, self.q_gain, self.k_gain)
        return rms_norm(q, self.q_gain, self.eps) + self.bias.to(q.dtype), rms_norm(k, self.k_gain, self.eps)
