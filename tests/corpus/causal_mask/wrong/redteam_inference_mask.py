# mistake: masks are kept and handed out again: made in inference mode, nobody can write into them, nor use them where gradients are recorded
# says: after other calls whose results were overwritten
# behind: the solution
import functools

_fresh = causal_mask


@functools.lru_cache(maxsize=None)
@torch.inference_mode()
def causal_mask(t_q, t_k=None, device=None):
    return _fresh(t_q, t_k, device)
