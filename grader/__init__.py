"""attngrade: hidden checks, named mistakes and a marked quiz about attention."""

__version__ = "0.1.0"


def load_ipython_extension(shell: object) -> None:
    """``%load_ext attngrade``: the cell magic ``%%attngrade EXERCISE`` and the line magic ``%attngrade COMMAND``."""
    from .notebook import load

    load(shell)


def unload_ipython_extension(shell: object) -> None:
    """``%unload_ext attngrade``: its workers end."""
    from .notebook import unload

    unload(shell)
