"""A refusal, and the module that does nothing but refuse. Runs in the worker, beside ``offlimits.py``."""

from __future__ import annotations

import sys
import types


class Refused(Exception):
    """A call that the exercise puts off limits."""


def refusal(name):
    """What is raised in place of ``name``."""
    return Refused(f"{name} is off limits in this exercise")


class Hollow(types.ModuleType):
    """What stands in for a module that is off limits: it can be imported and named, and refuses to do anything, so that other functions still load."""

    __path__ = []  # noqa: RUF012  - what makes it a package to the import system

    def __init__(self, name, module):
        super().__init__(name)
        self.__dict__["hollow_of"] = module

    def __getattr__(self, name):
        if name == "__wrapped__":  # the compiler of the framework asks for it when it is loaded
            return self.__call__
        if name.startswith("__"):
            raise AttributeError(name)
        return Hollow(f"{self.__name__}.{name}", self.hollow_of)

    def __call__(self, *args, **kwargs):
        raise refusal(self.hollow_of)

    __enter__ = __iter__ = __getitem__ = __mro_entries__ = __add__ = __mul__ = __matmul__ = __rmatmul__ = __call__
    __or__ = __ror__ = lambda self, other: object  # in an annotation of a function that only wants to be loaded

    @classmethod
    def create_module(cls, spec):
        """As a loader: the module itself."""
        return cls(spec.name, spec.name)

    @staticmethod
    def exec_module(module):
        """As a loader: nothing is run."""


def run_once(files):
    """From now on the code of these files is refused, by whatever road it is brought to be run. Audit hooks can't be taken away."""
    if not files:
        return

    def watch(event, args, places=tuple(files), refused=Refused):
        if event == "exec" and args[0].co_filename.startswith(places):
            raise refused(f"running {args[0].co_filename.rpartition('/')[2]} again is off limits in this exercise")

    sys.addaudithook(watch)
