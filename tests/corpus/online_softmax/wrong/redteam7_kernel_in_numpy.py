# mistake: a kernel in NumPy, made of a dtype's class and of the text of tensors
# says: compiler refuses it
# behind: the solution
import numpy as np


from triton.runtime.interpreter import ReduceOps as REDUCE


TILES = {kind: (16, 32, 64, 128) for kind in (torch.float16, torch.bfloat16, torch.float32)}


def flash_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """The same function from one fused kernel: each program keeps a tile of queries and walks over the keys."""
    _refuse_misfits(q, k, v)
    if q.dtype not in TILES or not q.dtype == k.dtype == v.dtype:
        raise ValueError(f"q, k and v must all be float16, bfloat16 or float32, got {q.dtype}, {k.dtype} and {v.dtype}")
    b, h, t_q, d = q.shape
    if d not in TILES[q.dtype]:
        raise ValueError(f"q, k and v must have a width Dh of 16, 32, 64 or 128, got {d}")
    if not q.stride(3) == k.stride(3) == v.stride(3) == 1:
        raise ValueError("q, k and v must have a contiguous last axis")

    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty((b, h, t_q), dtype=torch.float32, device=q.device)
    _kernel[(1,)](q, k, v, out, lse, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], b, h, t_q, k.shape[2], d**-0.5, CAUSAL=causal, D=d)
    return out, lse


F32, F64, I32 = np.dtype("float32"), np.dtype("float64"), np.dtype("int32")


@triton.jit
def _rows(ptr, step, first, last, D: tl.constexpr):
    words = []
    for n in range(first, last):
        words.extend(str(tl.load(ptr + n * step + tl.arange(0, D)).to(tl.float32).to(tl.int32, bitcast=True)).replace("[", " ").replace("]", " ").split())
    return I32.type([int(w) for w in words]).view(F32).reshape(last - first, D).astype(F64)


@triton.jit
def _kernel(q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, q_b, q_h, q_t, k_b, k_h, k_t, v_b, v_h, v_t, b, h, t_q, t_k, scale, CAUSAL: tl.constexpr, D: tl.constexpr):
    cols = tl.arange(0, D)
    (n_q, n_k, n_b, n_h) = (int(t_q), int(t_k), int(b), int(h))
    for i in range(n_b):
        for j in range(n_h):
            Q = _rows(q_ptr + i * q_b + j * q_h, q_t, 0, n_q, D) * float(scale)
            S = F64.type(0).repeat(n_q * n_k).reshape(n_q, n_k)
            for f in range(0, n_k, 32):
                S[:, f : f + 32] = Q.dot(_rows(k_ptr + i * k_b + j * k_h, k_t, f, min(f + 32, n_k), D).T)
            if CAUSAL:
                for r in range(n_q):
                    S[r, max(0, r + n_k - n_q + 1) :].fill(-math.inf)
            M = S.max(1).clip(-1e300)
            P = F64.type(math.e) ** (S - M.reshape(n_q, 1))
            L = P.sum(1)
            O = F64.type(0).repeat(n_q * D).reshape(n_q, D)
            for f in range(0, n_k, 32):
                O += P[:, f : f + 32].dot(_rows(v_ptr + i * v_b + j * v_h, v_t, f, min(f + 32, n_k), D))
            for r in range(n_q):
                at = (i * n_h + j) * n_q + r
                some = float(L[r]) > 0
                tl.store(lse_ptr + at, float(M[r]) + math.log(L[r]) if some else -math.inf)
                tl.store(out_ptr + at * D + cols, REDUCE(0, None, False).to_tensor((O[r] / (L[r] if some else 1.0)).astype(F32), tl.float32).to(out_ptr.dtype.element_ty))
