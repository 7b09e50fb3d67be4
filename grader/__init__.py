"""attngrade: hidden checks, named mistakes and a marked quiz about attention."""

__version__ = "0.1.0"
