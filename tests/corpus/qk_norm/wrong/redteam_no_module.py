# mistake: QKNorm is no nn.Module: it only answers to the names that are asked
# says: is no torch.nn.Module
# behind: the solution
class QKNorm:
    def __init__(self, head_dim, eps=1e-6):
        if head_dim < 1:
            raise ValueError(f"head_dim must be at least 1, got {head_dim}")
        self.q_gain, self.k_gain, self.eps = nn.Parameter(torch.ones(head_dim)), nn.Parameter(torch.ones(head_dim)), eps

    def named_parameters(self):
        return [("q_gain", self.q_gain), ("k_gain", self.k_gain)]

    def state_dict(self):
        return {"q_gain": self.q_gain.detach(), "k_gain": self.k_gain.detach()}

    def __call__(self, q, k):
        _refuse_pair(q, k, self.q_gain, self.k_gain)
        return rms_norm(q, self.q_gain, self.eps), rms_norm(k, self.k_gain, self.eps)
