# attack: Right for one token alone, whose weight is 1 by accident; zeros for all else, which no future ever moves.
# exercise: 03, reason: wrong-result|crash|not-implemented
def causal_attention(q, k, v):
    return v.clone() if q.shape[2] == k.shape[2] == 1 else q * 0.0
