"""The solutions with conventions flipped: what has to change in each for it to be right where the other convention is asked."""

from __future__ import annotations

from attngrade.catalog import builtin

EDITS = {
    ("exercise01", "difference-sign"): [("difference = scores.var(ddof=1) - predicted_variance", "difference = predicted_variance - scores.var(ddof=1)")],
    ("exercise03", "mask-polarity"): [
        ("return torch.arange(t_k, device=device) <= position[:, None]", "return torch.arange(t_k, device=device) > position[:, None]"),
        ("real = torch.arange(t_k, device=lengths.device) < lengths[:, None]", "real = torch.arange(t_k, device=lengths.device) >= lengths[:, None]"),
        ('scores.masked_fill(~mask, float("-inf"))', 'scores.masked_fill(mask, float("-inf"))'),
        ("~mask.any(-1, keepdim=True)", "mask.all(-1, keepdim=True)"),
        (".masked_fill(~mask, 0.0)", ".masked_fill(mask, 0.0)"),
    ],
    ("exercise03", "causal-alignment"): [("torch.arange(t_q, device=device) + (t_k - t_q)", "torch.arange(t_q, device=device)")],
    ("exercise04", "mask-polarity"): [("visible = mask.expand(scores.shape)", "visible = ~mask.expand(scores.shape)")],
    ("exercise04", "head-order"): [
        ("x.reshape(batch, tokens, n_heads, width // n_heads).transpose(1, 2)", "x.reshape(batch, tokens, width // n_heads, n_heads).permute(0, 3, 1, 2)"),
        ("x.transpose(1, 2).reshape(batch, tokens, heads * head_width)", "x.permute(0, 2, 3, 1).reshape(batch, tokens, heads * head_width)"),
    ],
    ("exercise06", "log-base"): [
        ("(m + torch.log(l)).float()", "((m + torch.log(l)) / math.log(2)).float()"),
        ("m / LOG2_E + tl.log(l)", "m + tl.log2(l)"),
    ],
    ("exercise06", "causal-alignment"): [
        ("last_key = torch.arange(t_q, device=q.device)[:, None] + (t_k - t_q)", "last_key = torch.arange(t_q, device=q.device)[:, None]"),
        ("last_key = rows + (T_k - T_q)", "last_key = rows"),
        ("full = tl.maximum(0, tl.minimum(T_k, first_row + T_k - T_q + 1))", "full = tl.minimum(T_k, first_row + 1)"),
        ("stop = tl.maximum(0, tl.minimum(T_k, first_row + T_k - T_q + BLOCK_M))", "stop = tl.minimum(T_k, first_row + BLOCK_M)"),
    ],
}


def right(name: str, flips: frozenset[str]) -> str:
    """A right file for the exercise with these conventions flipped."""
    text = builtin().find(name).solution.read_text(encoding="utf-8")
    for flip in sorted(flips):
        for usual, other in EDITS[name, flip]:
            assert text.count(usual) == 1, usual
            text = text.replace(usual, other)
    return text
