# right: A fixed number of programs that take tile after tile; running output kept normalised; checkpointed blocks in PyTorch.
"""A fixed number of programs that take tile after tile; running output kept normalised; checkpointed blocks in PyTorch."""

import torch
import triton
import triton.language as tl
from torch.utils.checkpoint import checkpoint


def merge_states(a, b):
    shapes = [[tuple(t.shape) for t in s] for s in (a, b)]
    for name, (m, l, o) in zip("ab", shapes):
        if m != l or o[:-1] != m or o == ():
            raise ValueError(f"{name} is no state: {m}, {l}, {o}")
    if shapes[0] != shapes[1]:
        raise ValueError(f"a and b differ in shape: {shapes[0][2]}, {shapes[1][2]}")
    wide = [[t.to(torch.promote_types(t.dtype, torch.float32)) for t in s] for s in (a, b)]
    m = torch.maximum(wide[0][0], wide[1][0])
    shift = m.nan_to_num(neginf=0.0)
    l, o = 0, 0
    for m_i, l_i, o_i in wide:
        w = torch.exp(m_i - shift)
        l = l + w * l_i
        o = o + w.unsqueeze(-1) * o_i
    return tuple(x.to(y.dtype) for x, y in zip((m, l, o), a))


def _validate(q, k, v):
    for name in "qkv":
        t = {"q": q, "k": k, "v": v}[name]
        if t.dim() != 4 or t.numel() < 1:
            raise ValueError(f"{name}: {tuple(t.shape)} is not (B, H, T, Dh)")
    if (q.shape[0], q.shape[1], q.shape[3]) != (k.shape[0], k.shape[1], k.shape[3]):
        raise ValueError(f"k: {tuple(k.shape)} for a q of {tuple(q.shape)}")
    if v.shape != k.shape:
        raise ValueError(f"v: {tuple(v.shape)} for a k of {tuple(k.shape)}")


def _one_block(q, k, v, first, causal, t_k, m, l, o):
    wide = m.dtype
    s = torch.matmul(q.to(wide), k.to(wide).transpose(-1, -2)).mul(q.shape[-1] ** -0.5)
    if causal:
        i = torch.arange(q.shape[2], device=q.device) + (t_k - q.shape[2])
        j = torch.arange(first, first + k.shape[2], device=q.device)
        s = s.masked_fill(j > i[:, None], float("-inf"))
    top = s.amax(-1)
    p = torch.exp(s - top.nan_to_num(neginf=0.0)[..., None])
    return merge_states((m, l, o), (top, p.sum(-1), p @ v.to(wide)))


def blockwise_attention(q, k, v, block_size, causal=False):
    _validate(q, k, v)
    if not block_size >= 1:
        raise ValueError(f"block_size: {block_size}")
    wide = torch.promote_types(q.dtype, torch.float32)
    m = torch.full(q.shape[:3], float("-inf"), dtype=wide, device=q.device)
    l = torch.zeros(q.shape[:3], dtype=wide, device=q.device)
    o = torch.zeros(q.shape, dtype=wide, device=q.device)
    training = torch.is_grad_enabled() and any(t.requires_grad for t in (q, k, v))
    for first in range(0, k.shape[2], block_size):
        arguments = (q, k[:, :, first : first + block_size], v[:, :, first : first + block_size], first, causal, k.shape[2], m, l, o)
        if training:
            m, l, o = checkpoint(_one_block, *arguments, use_reentrant=False, preserve_rng_state=False)
        else:
            m, l, o = _one_block(*arguments)
    l = l.masked_fill(l == 0, 1)
    return (o / l[..., None]).to(q.dtype), (m + l.log()).to(torch.float32)


@triton.jit
def _worker(q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, qb, qh, qt, kb, kh, kt, vb, vh, vt, ob, oh, ot, H, T_q, T_k, n_tiles, per_head, scale,
            CAUSAL: tl.constexpr, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    d = tl.arange(0, D)
    for tile in range(tl.program_id(0), n_tiles, tl.num_programs(0)):
        bh = tile // per_head
        b = (bh // H).to(tl.int64)
        h = (bh % H).to(tl.int64)
        first = (tile % per_head) * M
        rows = first + tl.arange(0, M)
        q = tl.load(q_ptr + b * qb + h * qh + rows.to(tl.int64)[:, None] * qt + d[None, :], mask=rows[:, None] < T_q, other=0.0)
        m = tl.full((M,), float("-inf"), tl.float32)
        l = tl.zeros((M,), tl.float32)
        out = tl.zeros((M, D), tl.float32)
        end = T_k
        if CAUSAL:
            end = tl.minimum(T_k, first + M + T_k - T_q)
        for start in range(0, end, N):
            keys = start + tl.arange(0, N)
            inside = keys < T_k
            k = tl.load(k_ptr + b * kb + h * kh + keys.to(tl.int64)[:, None] * kt + d[None, :], mask=inside[:, None], other=0.0)
            v = tl.load(v_ptr + b * vb + h * vh + keys.to(tl.int64)[:, None] * vt + d[None, :], mask=inside[:, None], other=0.0)
            s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
            visible = inside[None, :]
            if CAUSAL:
                visible = visible & (rows[:, None] + (T_k - T_q) >= keys[None, :])
            s = tl.where(visible, s, float("-inf"))
            top = tl.maximum(m, tl.max(s, 1))
            ref = tl.where(top == float("-inf"), 0.0, top)
            e = tl.exp(s - ref[:, None])
            old = l * tl.exp(m - ref)
            total = old + tl.sum(e, 1)
            total1 = tl.where(total == 0.0, 1.0, total)
            out = out * (old / total1)[:, None] + tl.dot(e, v.to(tl.float32), input_precision="ieee") / total1[:, None]
            m = top
            l = total
        lse = m + tl.log(tl.where(l == 0.0, 1.0, l))
        tl.store(o_ptr + b * ob + h * oh + rows.to(tl.int64)[:, None] * ot + d[None, :], out.to(o_ptr.dtype.element_ty), mask=rows[:, None] < T_q)
        tl.store(lse_ptr + bh.to(tl.int64) * T_q + rows, lse, mask=rows < T_q)


def flash_attention(q, k, v, causal=False):
    _validate(q, k, v)
    if q.shape[-1] not in (16, 32, 64, 128):
        raise ValueError(f"q: width {q.shape[-1]}")
    if q.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError(f"q: dtype {q.dtype}")
    for name, t in (("k", k), ("v", v)):
        if t.dtype != q.dtype or t.device != q.device:
            raise ValueError(f"{name}: {t.dtype} on {t.device}, but q is {q.dtype} on {q.device}")
    for name, t in (("q", q), ("k", k), ("v", v)):
        if t.stride(-1) != 1:
            raise ValueError(f"{name}: strides {t.stride()}")
    q, k, v = map(torch.Tensor.detach, (q, k, v))
    B, H, T_q, D = q.shape
    out = torch.empty(B, H, T_q, D, dtype=q.dtype, device=q.device)
    lse = torch.empty(B, H, T_q, dtype=torch.float32, device=q.device)
    M, N = 32, 32
    per_head = triton.cdiv(T_q, M)
    n_tiles = B * H * per_head
    workers = 7 if not q.is_cuda else 4 * torch.cuda.get_device_properties(q.device).multi_processor_count
    with torch.cuda.device_of(q):
        _worker[(min(n_tiles, workers),)](
            q, k, v, out, lse, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *out.stride()[:3],
            H, T_q, k.shape[2], n_tiles, per_head, D**-0.5, CAUSAL=bool(causal), D=D, M=M, N=N,
        )
    return out, lse
