# mistake: z looks at the first 128 scores alone
# says: scores\)
# behind: the solution
_all = variance_z_score


def variance_z_score(scores, predicted_variance):
    return _all(scores[:128], predicted_variance)
