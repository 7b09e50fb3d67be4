# mistake: blockwise_attention leaves its loop, when causal, at the first block that starts at or after T_q, so with more keys than queries the late keys are never read
# names: blocks-loop-ends-at-the-queries
import dataclasses
import itertools

import torch
import triton
import triton.language as tl


@dataclasses.dataclass
class Reader:
    """Reads keys in portions and remembers the normalised answer so far and the logarithm of all the weight so far."""

    q: torch.Tensor
    weight_max: torch.Tensor
    weight: torch.Tensor
    answer: torch.Tensor

    @classmethod
    def fresh(cls, q):
        nothing = q.sum(-1) * 0
        return cls(q, torch.full_like(nothing, -torch.inf).detach(), nothing, q * 0)

    def read(self, k, v, visible):
        s = self.q @ k.transpose(-1, -2)
        s = torch.where(visible, s, torch.full_like(s, -torch.inf))
        top = torch.maximum(self.weight_max, s.detach().amax(-1))
        base = torch.where(top == -torch.inf, torch.zeros_like(top), top)
        old = self.weight * torch.exp(self.weight_max - base)
        p = torch.exp(s - base[..., None])
        new = old + p.sum(-1)
        safe = torch.where(new == 0, torch.ones_like(new), new)
        # the answer stays normalised: a weighted mean of what it was and what the portion says
        self.answer = self.answer * (old / safe)[..., None] + (p / safe[..., None]) @ v
        self.weight_max, self.weight = top, new

    def result(self):
        safe = torch.where(self.weight == 0, torch.ones_like(self.weight), self.weight)
        return self.answer, self.weight_max + safe.log()


def _shape_of_state(name, state):
    m, l, o = state
    if m.shape != l.shape or o.ndim != m.ndim + 1 or o.shape[:-1] != m.shape:
        raise ValueError(f"state {name} has parts that don't fit")
    return o.shape


def merge_states(a, b):
    if _shape_of_state("a", a) != _shape_of_state("b", b):
        raise ValueError("states a and b have different shapes")
    home = [t.dtype for t in a]
    (m_a, l_a, o_a), (m_b, l_b, o_b) = ([t if t.dtype == torch.float64 else t.float() for t in x] for x in (a, b))
    m = torch.fmax(m_a, m_b)
    empty = torch.isinf(m)
    f_a = torch.exp((m_a - m).masked_fill(empty, 0.0))
    f_b = torch.exp((m_b - m).masked_fill(empty, 0.0))
    # l and o of both sides as one long vector each, so that they are scaled together
    both = torch.cat([l_a[..., None], o_a], -1) * f_a[..., None] + torch.cat([l_b[..., None], o_b], -1) * f_b[..., None]
    return tuple(t.to(d) for t, d in zip((m, both[..., 0].clone(), both[..., 1:].clone()), home))


def _agree(q, k, v):
    for name, t in (("q", q), ("k", k), ("v", v)):
        if t.ndim != 4:
            raise ValueError(f"{name} is not four-dimensional")
    for what, axis in (("batches", 0), ("heads", 1), ("widths", 3)):
        if not q.shape[axis] == k.shape[axis] == v.shape[axis]:
            raise ValueError(f"q, k and v have different {what}")
    if k.shape[2] != v.shape[2]:
        raise ValueError("k and v have different lengths")
    if not q.dtype == k.dtype == v.dtype:
        raise ValueError("q, k and v have different dtypes")


def blockwise_attention(q, k, v, block_size, causal=False):
    _agree(q, k, v)
    if block_size < 1:
        raise ValueError("block_size must be positive")
    (b, h, t_q, d), t_k = q.shape, k.shape[2]
    up = torch.promote_types(q.dtype, torch.float32)
    rows = torch.arange(t_q, device=q.device)
    answers, logs = [], []
    for i, j in itertools.product(range(b), range(h)):  # head by head
        reader = Reader.fresh(q[i, j].to(up) * d**-0.5)
        for start in range(0, t_k, block_size):
            if causal and start >= t_q:
                break  # no query can see that far
            here = slice(start, start + block_size)
            keys = torch.arange(start, min(start + block_size, t_k), device=q.device)
            visible = (keys[None] <= rows[:, None] + t_k - t_q) if causal else (keys[None] >= 0)
            reader.read(k[i, j, here].to(up), v[i, j, here].to(up), visible)
        answer, log = reader.result()
        answers.append(answer.to(q.dtype))
        logs.append(log.float())
    return torch.stack(answers).reshape(b, h, t_q, d), torch.stack(logs).reshape(b, h, t_q)


@triton.jit
def _sums_not_dots(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr,
    qb, qh, qt, kb, kh, kt, vb, vh, vt, ob, oh, ot, lb, lh,
    H, T_q, T_k, scale, offset,
    CAUSAL: tl.constexpr, D: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    """One flat grid; products as broadcast sums, without tl.dot, so float32 is float32 everywhere."""
    tiles = tl.cdiv(T_q, ROWS)
    pid = tl.program_id(0)
    tile = pid % tiles
    head = ((pid // tiles) % H).to(tl.int64)
    batch = (pid // tiles // H).to(tl.int64)
    r = tile * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, D)
    q = tl.load(q_ptr + batch * qb + head * qh + r[:, None] * qt + c[None, :], mask=(r < T_q)[:, None], other=0.0).to(tl.float32)
    m = tl.full((ROWS,), float("-inf"), tl.float32)
    l = tl.zeros((ROWS,), tl.float32)
    o = tl.zeros((ROWS, D), tl.float32)
    for start in range(0, T_k, KEYS):
        j = start + tl.arange(0, KEYS)
        k = tl.load(k_ptr + batch * kb + head * kh + j[:, None] * kt + c[None, :], mask=(j < T_k)[:, None], other=0.0).to(tl.float32)
        v = tl.load(v_ptr + batch * vb + head * vh + j[:, None] * vt + c[None, :], mask=(j < T_k)[:, None], other=0.0).to(tl.float32)
        s = tl.sum(q[:, None, :] * k[None, :, :], axis=2) * scale
        seen = (j < T_k)[None, :]
        if CAUSAL:
            seen = seen & (j[None, :] <= r[:, None] + offset)
        s = tl.where(seen, s, float("-inf"))
        m_next = tl.maximum(m, tl.max(s, axis=1))
        m_safe = tl.where(m_next == float("-inf"), 0.0, m_next)
        fade = tl.exp(m - m_safe)
        p = tl.exp(s - m_safe[:, None])
        l = l * fade + tl.sum(p, axis=1)
        o = o * fade[:, None] + tl.sum(p[:, :, None] * v[None, :, :], axis=1)
        m = m_next
    l = tl.where(l == 0.0, 1.0, l)
    o = o / l[:, None]
    tl.store(out_ptr + batch * ob + head * oh + r[:, None] * ot + c[None, :], o.to(out_ptr.dtype.element_ty), mask=(r < T_q)[:, None])
    tl.store(lse_ptr + batch * lb + head * lh + r, m + tl.log(l), mask=r < T_q)


def flash_attention(q, k, v, causal=False):
    _agree(q, k, v)
    d = q.shape[3]
    if d not in (16, 32, 64, 128):
        raise ValueError(f"q is {d} wide")
    if q.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError(f"q is {q.dtype}")
    for name, t in {"q": q, "k": k, "v": v}.items():
        if t.stride()[-1] != 1:
            raise ValueError(f"{name} isn't contiguous along its last axis")
    b, h, t_q = q.shape[:3]
    t_k = k.shape[2]
    out = torch.empty(b, h, t_q, d, dtype=q.dtype, device=q.device)
    lse = torch.empty(b, h, t_q, dtype=torch.float32, device=q.device)
    rows = keys = 16
    _sums_not_dots[(b * h * triton.cdiv(t_q, rows),)](
        q, k, v, out, lse,
        *itertools.chain(*(t.stride()[:3] for t in (q, k, v, out)), lse.stride()[:2]),
        h, t_q, t_k, d**-0.5, t_k - t_q,
        CAUSAL=causal, D=d, ROWS=rows, KEYS=keys,
    )  # fmt: skip
    return out, lse
