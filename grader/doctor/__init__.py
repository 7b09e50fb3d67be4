"""What works on this machine, and how to get the rest: one finding per part, each with its remedy.

Nothing here imports torch or Triton; versions are read from what is installed, the GPU from the driver. ``software`` looks at packages,
``machine`` at the GPU and the compiler, ``walls`` starts a worker in each jail, ``own`` looks at the record and the terminal.
"""

from __future__ import annotations

from .findings import Finding, State

__all__ = ["Finding", "State", "examine"]


def examine() -> list[Finding]:
    """Every finding, in the order of the screen."""
    from . import machine, own, software, walls

    gpu = machine.gpu()
    parts = [software.python(), software.package("numpy", "NumPy"), software.torch(gpu.facts), software.triton(), gpu, machine.compiler(gpu.facts)]
    return [*parts, walls.bubblewrap(), walls.nest(), walls.process(), walls.memory(), own.record(), own.terminal(), own.pictures(), own.notebook()]
