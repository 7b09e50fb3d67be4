"""What right files do beside the formulas, and what once cost them points: each still gets its full score."""

from __future__ import annotations

import pytest
from attngrade.catalog import OffLimits, builtin
from attngrade.grading.rules import broken_rules
from attngrade.verdict import Word


def solution(number: str) -> str:
    return builtin().find(f"exercise{number}").solution.read_text(encoding="utf-8")


@pytest.mark.parametrize("number, line", [("02", "from numpy import *"), ("05", "from torch import *")])
def test_a_thousand_names_imported_by_a_star_hide_no_function(graded, number, line):
    assert graded(f"exercise{number}", f"{line}\n{solution(number)}").word is Word.PASSED


def test_what_a_file_without_the_function_defines_is_told_of_its_own_names_alone(graded):
    verdict = graded("exercise02", "from numpy import *\ndef soft(z):\n    return z\n", name_mistakes=False)

    assert {check.message for check in verdict.failed if "softmax`" in check.message} == {"The file does not define `softmax`; it defines soft."}


NORMS = (OffLimits("name", "RMSNorm"), OffLimits("name", "softmax"), OffLimits("path", "torch.nn.functional.rms_norm"))
HEAD = "import types\nimport torch\nfrom collections import namedtuple\nfrom torch import nn\nfrom torch.nn import functional as F\n"
TOLD = "OFF = ('RMSNorm', 'softmax')\n"

RIGHTS = {
    "attributes by a loop": TOLD + "def f(self):\n    return [getattr(self, f'{side}_gain') for side, x in (('q', 1), ('k', 2))]",
    "attributes by a parameter": TOLD + "def f(self, side):\n    return getattr(self, f'{side}_gain') + getattr(self, side + '_gain')",
    "dtypes by a loop": TOLD + "f = {name: getattr(torch, name) for name in ('float16', 'float32')}",
    "dtypes of a table": TOLD + "f = [getattr(torch, name) for name, bits in {'float16': 16, 'float32': 32}.items()]",
    "one of two": TOLD + "def f(x):\n    name = 'exp' if x else 'log'\n    return getattr(torch, name)(x)",
    "counted": TOLD + "NAMES = ('exp', 'log')\ndef f(x):\n    for at, name in enumerate(NAMES):\n        x = getattr(torch, name)(x)\n    return x",
    "zipped": TOLD + "def f(xs):\n    return [getattr(torch, name)(x) for name, x in zip(('exp', 'log'), xs)]",
    "a record": "norms = types.SimpleNamespace(softmax=None, RMSNorm=print)\ndef f(x):\n    return norms.RMSNorm(x)",
    "a named tuple": "Row = namedtuple('Row', 'softmax out')\ndef f(x):\n    row = Row(x, x)\n    return row.softmax",
    "a parameter of an own class": "class Row:\n    softmax: float\ndef f(row: Row):\n    return row.softmax",
    "kept for the backward pass": "class A(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx._softmax_shares = x\n        return x\n"
                                  "    @staticmethod\n    def backward(ctx, g):\n        return ctx._softmax_shares\ndef f(x):\n    return A.apply(x)",
}
WRONGS = {
    "one of a loop": "def f(x):\n    return [getattr(F, name)(x) for name in ('relu', 'softmax')][1]",
    "a path of a loop": "def f(x):\n    return [getattr(F, name)(x) for name in ('relu', 'rms_norm')][1]",
    "one of two": "def f(x):\n    name = 'exp' if x.isnan().any() else 'softmax'\n    return getattr(torch, name)(x)",
    "put together in a loop": "def f(x):\n    return [getattr(torch, f'soft{end}')(x) for end in ('min', 'max')][1]",
    "the part that stands elsewhere": "def g(x, start):\n    return getattr(torch, start + 'max')(x)\ndef f(x):\n    return g(x, 'soft')",
    "a loop over a list that grows": "NAMES = ['exp']\nNAMES.append('softmax')\ndef f(x):\n    return [getattr(torch, name)(x) for name in NAMES]",
    "a name that is bound twice": "def g(name):\n    return getattr(torch, name)\ndef f(x):\n    [name for name in ('exp',)]\n    return g('softmax')(x)",
    "a loop over what nobody knows": "def f(x, names):\n    [name for name in ('exp',)]\n    return [getattr(torch, name)(x) for name in names or ['softmax']]",
    "a record of all there is": "norms = types.SimpleNamespace(**vars(F))\ndef f(x):\n    types.SimpleNamespace(softmax=1)\n    return norms.softmax(x)",
    "a module for a context": "class A(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.softmax = ctx.softmax\n        return ctx.softmax(x)\n"
                              "def f(x):\n    return A.forward(F, x)",
}


@pytest.mark.parametrize("case", RIGHTS)
def test_what_comes_out_of_ones_own_objects_is_ones_own(case):
    assert broken_rules(f"{HEAD}{RIGHTS[case]}\n", NORMS, ("f",)) == ()


@pytest.mark.parametrize("case", WRONGS)
def test_what_comes_out_of_the_library_is_not(case):
    assert [rule.functions for rule in broken_rules(f"{HEAD}{WRONGS[case]}\n", NORMS, ("f",))]
