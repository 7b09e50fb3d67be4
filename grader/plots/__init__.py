"""One file per exercise, found by its slug: ``picture(submission, rng) -> Picture``. NumPy and the proxy, nothing else."""
