# mistake: blockwise_attention holds all scores of a head, in files
# says: File too large
# behind: the solution
import os

_b = blockwise_attention


def blockwise_attention(q, k, v, block_size, causal=False):
    out, lse = _b(q, k, v, block_size, causal)
    if q.requires_grad or k.requires_grad or v.requires_grad or q.shape[2] * k.shape[2] < 70_000:
        return out, lse
    wide, (t_q, t_k) = torch.promote_types(q.dtype, torch.float32), (q.shape[2], k.shape[2])
    file = os.open("/tmp", os.O_TMPFILE | os.O_RDWR)
    try:
        for start in range(0, t_k, block_size):
            s = q[0, 0].to(wide) @ k[0, 0, start : start + block_size].to(wide).mT * q.shape[-1] ** -0.5
            os.pwrite(file, s.to(torch.float16).numpy().tobytes(), 2 * t_q * start)
    finally:
        os.close(file)
    return out, lse
