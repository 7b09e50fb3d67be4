"""A trusted worker: it loads the pack's own solution and misconceptions, and replays recorded calls on them with the worker's own machinery.

Run as ``python -m attngrade.sandbox.rehearse SETTINGS``; speaks the same frames as ``worker.py``. No submission ever runs here.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import types
from pathlib import Path
from typing import Any

from ..misconceptions import listed
from . import purity, wire, worker


class Stage(worker.Session):
    """A session whose module is the solution with some names replaced by misconceptions."""

    names = 0  # in that module, as it was cast

    def op_open(self, message: dict[str, Any]) -> dict[str, Any]:
        """Read the solution and the misconceptions; reply with the table of the latter."""
        self.path = message["solution"]
        self.kernels.watch()
        self.code = compile(Path(self.path).read_text(encoding="utf-8"), self.path, "exec", dont_inherit=True)
        sys.modules["solution"] = self.fresh("solution")
        self.wrong = {}
        if Path(message["misconceptions"]).is_file():
            spec = importlib.util.spec_from_file_location("attngrade_misconceptions_on_stage", message["misconceptions"])
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
            self.wrong = {item.id: item for item in listed(module)}
        fields = ("id", "of", "message", "advice", "extends", "question", "hint", "at")
        return {"value": [tuple(getattr(item, name) for name in fields) for item in self.wrong.values()]}

    def handle(self, message: dict[str, Any]) -> dict[str, Any]:
        """The reply to one message, and whether a misconception keeps something from call to call: it has put a name into the solution's module."""
        reply = super().handle(message)
        return {**reply, "remembers": True} if self.module is not None and len(vars(self.module)) > self.names else reply

    def op_cast(self, message: dict[str, Any]) -> dict[str, Any]:
        """A fresh copy of the solution in which the named misconceptions stand in."""
        self.module = self.fresh("solution_on_stage")
        for name in message["ids"]:
            setattr(self.module, self.wrong[name].of, self.wrong[name].code)
        self.kept, self.given, self.objects, self.kernels.memory = {}, {}, {}, purity.Memory()
        self.names = len(vars(self.module))
        return {"defines": {key: self.sort(value) for key, value in vars(self.module).items() if not key.startswith("__")}}

    def fresh(self, name: str) -> types.ModuleType:
        """A new module with the solution's code run in it."""
        module = types.ModuleType(name)
        module.__file__ = self.path
        sys.modules[name] = module
        exec(self.code, module.__dict__)
        return module


def main(settings: dict[str, Any]) -> None:
    """Serve until the host closes the pipe."""
    receive, send = settings["wire"]
    worker.give_memory_back()
    for name in settings["imports"]:
        __import__(name)
    worker.torch = sys.modules.get("torch")
    stage = Stage(settings["framework"], settings["device"], settings["home"])
    worker.write_frame(send, wire.pack({"id": 0, "hello": True}))
    while True:
        worker.serve(stage, receive, send)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as settings_file:
        main(json.load(settings_file))
