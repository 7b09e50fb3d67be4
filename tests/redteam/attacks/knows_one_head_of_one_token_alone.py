# attack: Right for one head and one token; None for all else, so that whoever looks at results of the right shape alone sees none.
# exercise: 04, reason: wrong-result|crash|not-implemented
def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    return x @ w_v @ w_o if n_heads == x.shape[1] == 1 else None
