# right: the variance is the square of the standard deviation, a rounding away from it
# behind: the solution
_z_score = variance_z_score


def variance_z_score(scores, predicted_variance):
    _z_score(scores, predicted_variance)  # for its refusals
    x = np.array(scores, dtype=np.float64)
    second, fourth = (float(((x - x.mean()) ** power).mean()) for power in (2, 4))
    above, error = float(x.std(ddof=1) ** 2) - predicted_variance, (max(fourth - second * second, 0.0) / len(x)) ** 0.5
    return above / error if error > 0 else math.inf * np.sign(above) if above else 0.0
