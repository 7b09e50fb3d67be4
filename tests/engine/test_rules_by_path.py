"""An off-limits path is found however it is spelt, and a function of one's own that bears its last name is left alone."""

from __future__ import annotations

import pytest
from attngrade.catalog import OffLimits
from attngrade.grading.rules import broken_rules

PATH = (OffLimits("path", "torch.nn.functional.rms_norm"), OffLimits("path", "torch.ops.aten.rms_norm"))
HEAD = "import importlib\nimport operator\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
OWN = "def rms_norm(x):\n    return {}\n"

SPELT = [
    "F.rms_norm(x)",
    "torch.nn.functional.rms_norm(x)",
    "nn.functional.rms_norm(x)",
    "torch.ops.aten.rms_norm.default(x)",
    'getattr(F, "rms_norm")(x)',
    'getattr(F, "rms_" + "norm")(x)',
    'getattr(torch.nn, "functional").rms_norm(x)',
    'importlib.import_module("torch.nn.functional").rms_norm(x)',
    'getattr(importlib.import_module("torch.nn.functional"), "rms_norm")(x)',
    '__import__("torch").nn.functional.rms_norm(x)',
    '__import__("torch.nn.functional", fromlist=["x"]).rms_norm(x)',
    'vars(F)["rms_norm"](x)',
    'F.__dict__["rms_norm"](x)',
    'operator.attrgetter("rms_norm")(F)(x)',
    'operator.attrgetter("functional.rms_norm")(nn)(x)',
    'eval("F.rms_norm")(x)',
]
INNOCENT = [
    "rms_norm(x)",
    'print("rms_norm", x)',
    '{"rms_norm": rms_norm}["rms_norm"](x)',
    'getattr(x, "rms_norm")(x)',
    'globals()["rms_norm"](x)',
    "F.softmax(x, dim=-1)",
]


@pytest.mark.parametrize("call", SPELT)
def test_a_path_is_found_however_it_is_spelt(call):
    broken = broken_rules(HEAD + OWN.format(call), PATH, ("rms_norm",))

    assert [(rule.line, rule.functions) for rule in broken] == [(7, ("rms_norm",))]


@pytest.mark.parametrize("line", ["f = F.rms_norm", 'f = importlib.import_module("torch.nn.functional")', "f = nn.functional"])
def test_a_path_is_found_through_a_name_bound_on_the_way(line):
    call = "f(x)" if "rms" in line else "f.rms_norm(x)"

    assert broken_rules(HEAD + line + "\n" + OWN.format(call), PATH, ("rms_norm",))


@pytest.mark.parametrize("call", INNOCENT)
def test_a_function_of_ones_own_may_bear_the_name(call):
    assert broken_rules(HEAD + OWN.format(call), PATH, ("rms_norm",)) == ()
