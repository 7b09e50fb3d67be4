# right: only the trailing side is rescaled, two walks with a log-normaliser; the kernel uses block pointers
"""Log-space everywhere outside the kernel; inside it, block pointers do the bounds."""
import torch
import triton
import triton.language as tl


def require(condition, complaint):
    if not condition:
        raise ValueError(complaint)


def merge_states(a, b):
    for name, (m, l, o) in (("a", a), ("b", b)):
        require(l.shape == m.shape, f"{name}: l isn't shaped like m")
        require(o.dim() >= 1 and o.shape[:-1] == m.shape, f"{name}: o doesn't fit m")
    require(a[0].shape == b[0].shape and a[2].shape == b[2].shape, "a and b don't have the same shape")
    small = a[2].dtype
    big = torch.float64 if small == torch.float64 else torch.float32
    (m_a, l_a, o_a), (m_b, l_b, o_b) = ([t.to(big) for t in side] for side in (a, b))
    # only the smaller side is rescaled; the larger one has the factor exp(0) = 1
    a_leads = m_a >= m_b
    lead_m, trail_m = torch.where(a_leads, m_a, m_b), torch.where(a_leads, m_b, m_a)
    lead_l, trail_l = torch.where(a_leads, l_a, l_b), torch.where(a_leads, l_b, l_a)
    wide = a_leads.unsqueeze(-1)
    lead_o, trail_o = torch.where(wide, o_a, o_b), torch.where(wide, o_b, o_a)
    gap = trail_m - torch.where(lead_m > -torch.inf, lead_m, 0.0)
    shrink = gap.exp()
    return lead_m.to(small), (lead_l + trail_l * shrink).to(small), (lead_o + trail_o * shrink.unsqueeze(-1)).to(small)


def _check(q, k, v):
    require(q.dim() == 4, "q: (B, H, T_q, Dh)")
    require(k.dim() == 4, "k: (B, H, T_k, Dh)")
    require(v.dim() == 4, "v: (B, H, T_k, Dh)")
    require(q.size(0) == k.size(0) == v.size(0), "q, k, v: one batch size")
    require(q.size(1) == k.size(1) == v.size(1), "q, k, v: one number of heads")
    require(q.size(3) == k.size(3) == v.size(3), "q, k, v: one width")
    require(k.size(2) == v.size(2), "k, v: one number of keys")
    require(q.dtype == k.dtype == v.dtype, "q, k, v: one dtype")


def _blocks(t_k, size):
    start = 0
    while start < t_k:
        yield slice(start, min(start + size, t_k))
        start += size


def blockwise_attention(q, k, v, block_size, causal=False):
    """Two walks over the keys: the log-normaliser first, then weights that are final."""
    _check(q, k, v)
    require(block_size >= 1, "block_size: at least 1")
    t_q, t_k, dh = q.size(2), k.size(2), q.size(3)
    big = torch.float64 if q.dtype == torch.float64 else torch.float32
    query = q.to(big)
    last_seen = torch.arange(t_q, device=q.device)[:, None] + (t_k - t_q)

    def scores(keys):
        s = query @ k[:, :, keys].to(big).transpose(2, 3) * dh**-0.5
        if causal:
            hidden = torch.arange(keys.start, keys.stop, device=q.device) > last_seen
            s = s.masked_fill(hidden, -torch.inf)
        return s

    blind = (last_seen[:, 0] < 0) if causal else torch.zeros(t_q, dtype=torch.bool, device=q.device)
    # a row that sees nothing keeps a finite stand-in (0) for its normaliser until the very end
    lse = None
    for keys in _blocks(t_k, block_size):
        s = scores(keys).masked_fill(blind[:, None], 0.0)
        part_max = s.amax(-1, keepdim=True).detach()
        part_max = torch.where(part_max > -torch.inf, part_max, 0.0)
        weight = torch.exp(s - part_max).sum(-1)
        if lse is None:
            lse = part_max.squeeze(-1) + weight.log()  # every row that isn't blind sees the first key
        else:
            # log(exp(lse) + weight exp(part_max)) with the larger of the two outside
            top = torch.maximum(lse.detach(), part_max.squeeze(-1))
            lse = top + torch.log(torch.exp(lse - top) + weight * torch.exp(part_max.squeeze(-1) - top))
    out = torch.zeros_like(query)
    for keys in _blocks(t_k, block_size):
        p = torch.exp(scores(keys) - lse.unsqueeze(-1))
        out = out + p @ v[:, :, keys].to(big)
    return out.to(q.dtype), lse.masked_fill(blind, -torch.inf).to(torch.float32)


@triton.jit
def _tile(
    Q, K, V, OUT, LSE,
    q0, q1, q2, k0, k1, k2, v0, v1, v2, o0, o1, o2, l0, l1,
    heads, n_q, n_k, scale,
    CAUSAL: tl.constexpr, DH: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    first = tl.program_id(0) * BQ
    batch = (tl.program_id(1)).to(tl.int64)
    head = (tl.program_id(2)).to(tl.int64)
    q_tile = tl.make_block_ptr(Q + batch * q0 + head * q1, (n_q, DH), (q2, 1), (first, 0), (BQ, DH), (1, 0))
    k_tile = tl.make_block_ptr(K + batch * k0 + head * k1, (DH, n_k), (1, k2), (0, 0), (DH, BK), (0, 1))
    v_tile = tl.make_block_ptr(V + batch * v0 + head * v1, (n_k, DH), (v2, 1), (0, 0), (BK, DH), (1, 0))
    o_tile = tl.make_block_ptr(OUT + batch * o0 + head * o1, (n_q, DH), (o2, 1), (first, 0), (BQ, DH), (1, 0))
    q = tl.load(q_tile, boundary_check=(0,), padding_option="zero")
    rows = first + tl.arange(0, BQ)
    top = tl.full((BQ,), float("-inf"), tl.float32)
    mass = tl.zeros((BQ,), tl.float32)
    acc = tl.zeros((BQ, DH), tl.float32)
    for j in range(0, tl.cdiv(n_k, BK)):
        k = tl.load(k_tile, boundary_check=(1,), padding_option="zero")
        v = tl.load(v_tile, boundary_check=(0,), padding_option="zero")
        cols = j * BK + tl.arange(0, BK)
        s = tl.dot(q, k, input_precision="ieee") * scale
        s += tl.where(cols < n_k, 0.0, float("-inf"))[None, :]
        if CAUSAL:
            s = tl.where(rows[:, None] + (n_k - n_q) >= cols[None, :], s, float("-inf"))
        raised = tl.maximum(top, tl.max(s, axis=1))
        floor = tl.where(raised == float("-inf"), 0.0, raised)
        keep = tl.exp(top - floor)
        p = tl.exp(s - floor[:, None])
        mass = mass * keep + tl.sum(p, axis=1)
        acc = tl.dot(p.to(v.dtype), v, acc * keep[:, None], input_precision="ieee")
        top = raised
        k_tile = tl.advance(k_tile, (0, BK))
        v_tile = tl.advance(v_tile, (BK, 0))
    mass = tl.where(mass > 0.0, mass, 1.0)
    tl.store(o_tile, (acc / mass[:, None]).to(OUT.dtype.element_ty), boundary_check=(0,))
    tl.store(LSE + batch * l0 + head * l1 + rows, top + tl.log(mass), mask=rows < n_q)


def flash_attention(q, k, v, causal=False):
    _check(q, k, v)
    require(q.size(3) in (16, 32, 64, 128), "q: Dh must be 16, 32, 64 or 128")
    require(q.dtype in (torch.float16, torch.bfloat16, torch.float32), "q: dtype must be float16, bfloat16 or float32")
    require(q.stride(3) == 1, "q: the last axis must be contiguous")
    require(k.stride(3) == 1, "k: the last axis must be contiguous")
    require(v.stride(3) == 1, "v: the last axis must be contiguous")
    b, h, n_q, dh = q.shape
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    grid = lambda meta: (triton.cdiv(n_q, meta["BQ"]), b, h)
    _tile[grid](
        q, k, v, out, lse,
        q.stride(0), q.stride(1), q.stride(2), k.stride(0), k.stride(1), k.stride(2), v.stride(0), v.stride(1), v.stride(2),
        out.stride(0), out.stride(1), out.stride(2), lse.stride(0), lse.stride(1),
        h, n_q, k.size(2), dh**-0.5,
        CAUSAL=causal, DH=dh, BQ=16, BK=16,
    )  # fmt: skip
    return out, lse
