"""Pictures: data computed there and then in a jailed worker, drawn in a terminal or into a file.

``picture`` is the vocabulary of the authors in ``plots/plot_<slug>.py``; ``own`` decides whose code is asked; ``terminal`` and ``paper`` draw.
"""
