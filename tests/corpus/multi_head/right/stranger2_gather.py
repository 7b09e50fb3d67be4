# right: gather and index arithmetic, a one-hot selection matrix for repeat_kv, softmax by hand in bmm
import torch


def _pick(n, indices, like):
    """The 0/1 matrix whose rows pick entries out of a list of n."""
    return torch.eye(n, dtype=like.dtype, device=like.device)[indices]


def split_heads(x, n_heads):
    if x.ndim != 3:
        raise ValueError("x: (B, T, D) is asked")
    if n_heads < 1:
        raise ValueError("n_heads: at least 1")
    D = x.shape[2]
    if D % n_heads > 0:
        raise ValueError(f"n_heads: {n_heads} doesn't divide {D}")
    columns = torch.arange(D, device=x.device).reshape(n_heads, 1, -1)  # which columns each head owns
    return x[:, None].expand(-1, n_heads, -1, -1).gather(3, columns.expand(x.shape[0], n_heads, x.shape[1], D // n_heads))


def merge_heads(x):
    if x.ndim != 4:
        raise ValueError("x: (B, H, T, Dh) is asked")
    B, H, T, Dh = x.shape
    # column c of the result is column c % Dh of head c // Dh
    c = torch.arange(H * Dh, device=x.device)
    return x[:, c // Dh, :, c % Dh].permute(1, 2, 0)


def repeat_kv(x, n_rep):
    if x.ndim != 4:
        raise ValueError("x: (B, H_kv, T, Dh) is asked")
    if n_rep < 1:
        raise ValueError("n_rep: at least 1")
    H = x.shape[1] * n_rep
    choose = _pick(x.shape[1], torch.arange(H) // n_rep, x)
    return torch.einsum("hg,bgtd->bhtd", choose, x)


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    H, G = n_heads, n_heads if n_kv_heads is None else n_kv_heads
    for ok, why in (
        (x.ndim == 3, "x: (B, T, D) is asked"),
        (w_q.ndim == 2, "w_q: a matrix is asked"),
        (w_k.ndim == 2, "w_k: a matrix is asked"),
        (w_v.ndim == 2, "w_v: a matrix is asked"),
        (w_o.ndim == 2, "w_o: a matrix is asked"),
        (H >= 1, "n_heads: at least 1"),
        (G >= 1, "n_kv_heads: at least 1"),
    ):
        if not ok:
            raise ValueError(why)
    B, T, D = x.shape
    if H % G:
        raise ValueError("n_kv_heads: has to divide n_heads")
    if w_q.shape[1] % H or w_q.shape[0] != D:
        raise ValueError("w_q: (D, H*Dh) is asked")
    Dh = w_q.shape[1] // H
    if w_k.shape != (D, G * Dh):
        raise ValueError("w_k: (D, H_kv*Dh) is asked")
    if w_v.shape != (D, G * Dh):
        raise ValueError("w_v: (D, H_kv*Dh) is asked")
    if w_o.shape != (H * Dh, D):
        raise ValueError("w_o: (H*Dh, D) is asked")
    if mask is None:
        mask = torch.ones((), dtype=torch.bool, device=x.device)
    try:
        mask = torch.broadcast_to(mask, (B, H, T, T))
    except RuntimeError:
        raise ValueError("mask: has to broadcast to (B, H, T, T)") from None

    high = {torch.float64: torch.float64}.get(x.dtype, torch.float32)
    y = x.to(high)
    # all heads in one axis of B*H, and the softmax written out
    q = split_heads(y @ w_q.to(high), H).reshape(B * H, T, Dh)
    k = repeat_kv(split_heads(y @ w_k.to(high), G), H // G).reshape(B * H, T, Dh)
    v = repeat_kv(split_heads(y @ w_v.to(high), G), H // G).reshape(B * H, T, Dh)
    see = mask.reshape(B * H, T, T)
    s = torch.bmm(q, k.transpose(1, 2)) * Dh**-0.5
    s = s.masked_fill(~see, float("-inf"))
    e = torch.exp(s - s.amax(2, keepdim=True).detach())
    p = e / e.sum(2, keepdim=True)
    heads = torch.bmm(p, v).reshape(B, H, T, Dh)
    return (merge_heads(heads) @ w_o.to(high)).to(x.dtype)
