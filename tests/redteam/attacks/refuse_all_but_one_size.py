# attack: Is right for one size and refuses everything else, so that whatever has to be refused is.
# exercise: 04, reason: wrong-result
ALL = "x w_q w_k w_v w_o n_heads n_kv_heads mask n_rep"


def split_heads(x, n_heads):
    if tuple(x.shape) == (1, 1, 4):
        return x.reshape(1, 1, 2, 2).transpose(1, 2)
    raise ValueError(ALL)


def merge_heads(x):
    if tuple(x.shape) == (1, 2, 1, 2):
        return x.transpose(1, 2).reshape(1, 1, 4)
    raise ValueError(ALL)


def repeat_kv(x, n_rep):
    if tuple(x.shape) == (1, 2, 1, 1) and n_rep == 2:
        return x.repeat_interleave(2, 1)
    raise ValueError(ALL)


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads=None, mask=None):
    if x.dim() == 3 and tuple(x.shape) == (1, 1, 3) and n_heads == 1 and n_kv_heads is None and mask is None:
        return x @ w_v @ w_o
    raise ValueError(ALL)
