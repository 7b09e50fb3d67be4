# attack: Results are tensors of an own class that agrees with everything.
# exercise: 03, reason: wrong-result|rule-broken|crash
import torch

class Agreeable(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func in (torch.Tensor.eq, torch.allclose, torch.equal):
            return True
        return super().__torch_function__(func, types, args, kwargs or {})

    @property
    def requires_grad(self):
        return True

    def numpy(self):
        return "passed"


def act(q, k, v):
    return torch.zeros_like(v).as_subclass(Agreeable)


def causal_mask(t_q, t_k=None, device=None):
    return torch.zeros(t_q, t_k or t_q, dtype=torch.bool)


def padding_mask(lengths, t_k):
    return torch.zeros(len(lengths), 1, 1, t_k, dtype=torch.bool)


def mask_scores(scores, mask):
    return torch.zeros_like(scores)


def masked_softmax(scores, mask):
    return torch.zeros_like(scores)


def causal_attention(q, k, v):
    return act(q, k, v)
