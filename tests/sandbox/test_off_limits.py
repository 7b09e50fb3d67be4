"""The off-limits reader: every road to a forbidden name is seen, and nothing innocent is refused."""

from __future__ import annotations

import ast
import contextlib
import time
import tracemalloc

import pytest
from attngrade.catalog import OffLimits, builtin
from attngrade.grading.matching import last_matches
from attngrade.grading.rules import broken_rules, reachable
from attngrade.grading.source import Unreadable, read_source
from attngrade.verdict import Reason, Word

RULES = (OffLimits("name", "scaled_dot_product_attention"), OffLimits("name", "MultiheadAttention"), OffLimits("module", "torch.nn.attention"))
HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"

ROADS = {
    "plain": "def f(q):\n    return F.scaled_dot_product_attention(q, q, q)",
    "never called": "def f(q):\n    return q\n    F.scaled_dot_product_attention(q, q, q)",
    "imported": "from torch.nn.functional import scaled_dot_product_attention\ndef f(q):\n    return q",
    "alias": "from torch.nn.functional import scaled_dot_product_attention as a\ndef f(q):\n    return a(q)",
    "starred": "from torch.nn.functional import *\ndef f(q):\n    return scaled_dot_product_attention(q, q, q)",
    "bound": "a = F.scaled_dot_product_attention\ndef f(q):\n    return a(q)",
    "tuple": "g, a = getattr, 'scaled_dot_product_attention'\ndef f(q):\n    return g(F, a)(q)",
    "default": "def f(q, name='scaled_dot_product_attention'):\n    return getattr(F, name)(q)",
    "walrus": "def f(q):\n    return (a := F.scaled_dot_product_attention)(q)",
    "operator": "def f(q):\n    return torch.ops.aten.scaled_dot_product_attention.default(q)",
    "private": "def f(q):\n    return torch._C._nn._scaled_dot_product_attention_math(q)",
    "flash": "def f(q):\n    return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q)",
    "native": "def f(q):\n    return torch._native_multi_head_attention(q)",
    "method": "def f(q):\n    return q.scaled_dot_product_attention(q)",
    "getattr": "def f(q):\n    return getattr(F, 'scaled_dot_' + 'product_attention')(q)",
    "joined": "def f(q):\n    return getattr(F, '_'.join(['scaled', 'dot', 'product', 'attention']))(q)",
    "reversed": "def f(q):\n    return getattr(F, 'noitnetta_tcudorp_tod_delacs'[::-1])(q)",
    "codes": "def f(q):\n    return getattr(F, ''.join(chr(c + 1) for c in b'rb`kdc^cns^oqnctbs^`ssdmshnm'))(q)",
    "named pieces": "A = 'scaled_dot'\nB = A + '_product_attention'\ndef f(q):\n    return getattr(F, B)(q)",
    "vars": "def f(q):\n    return vars(F)['scaled_dot_product_attention'](q)",
    "loop": "def f(q):\n    for n in ('scaled_dot_product_attention',):\n        return getattr(F, n)(q)",
    "searched": "WANTED = 'scaled_dot_product_attention'\ndef f(q):\n    return [getattr(F, n) for n in dir(F) if n == WANTED][0](q)",
    "handed on": "import functools\ndef f(q):\n    return functools.reduce(getattr, ('functional', 'scaled_dot_product_attention'), nn)(q)",
    "attrgetter": "import operator\ndef f(q):\n    return operator.attrgetter('nn.functional.scaled_dot_product_attention')(torch)(q)",
    "eval": "def f(q):\n    return eval('F.scaled_dot_product_attention(q, q, q)')",
    "exec of a name": "CODE = 'r = F.scaled_dot_' + 'product_attention'\ndef f(q):\n    exec(CODE)",
    "eval in an assertion": "def f(q):\n    assert (a := eval('F.scaled_dot_product_attention')) is not None\n    return a(q)",
    "eval in a raise": "def f(q):\n    raise StopIteration(eval('F.scaled_dot_product_attention')(q))",
    "a long text": "def f(q):\n    exec('" + "r = 1\\n" * 1500 + "F.scaled_dot_product_attention(q, q, q)')",
    "eval in eval": "def f(q):\n    return eval('eval(\"F.scaled_dot_product_attention\")')",
    "script": "def f(q):\n    return torch.jit.CompilationUnit('def g(q):\\n  return torch.scaled_dot_product_attention(q, q, q)').g(q)",
    "by schema": "def f(q):\n    return torch._C._jit_get_operation('aten::scaled_dot_product_attention')[0](q)",
    "class": "class A(nn.MultiheadAttention):\n    pass\ndef f(q):\n    return A(q)",
    "module": "from torch.nn.attention import sdpa_kernel\ndef f(q):\n    return q",
    "module below": "import torch.nn.attention.flex_attention as x\ndef f(q):\n    return x(q)",
    "module by name": "import importlib\ndef f(q):\n    return importlib.import_module('torch.nn.' + 'attention')",
    "module as attribute": "def f(q):\n    return nn.attention.flex_attention.flex_attention(q)",
    "pattern": "def f(q):\n    match F:\n        case object(scaled_dot_product_attention=found):\n            return found(q)",
    "full width letters": "def f(q):\n    return F.ｓcaled_dot_product_attention(q)",
    "decorator": "@F.scaled_dot_product_attention\ndef f(q):\n    return q",
    "lambda": "g = lambda q: F.scaled_dot_product_attention(q)\ndef f(q):\n    return g(q)",
    "symbol": "import ctypes\nA = b'_ZN2at6native34_scaled_dot_product_attention_mathE'\ndef f(q):\n    return ctypes.CDLL(None)[A](q)",
    "helper's helper": "def h(q):\n    return F.scaled_dot_product_attention(q)\ndef g(q):\n    return h(q)\ndef f(q):\n    return g(q)",
}
INNOCENT = {
    "docstring": "def f(q):\n    '''Like scaled_dot_product_attention, and MultiheadAttention, by hand.'''\n    return q",
    "comment": "def f(q):\n    # scaled_dot_product_attention would do this\n    return q",
    "own function": "def scaled_dot_product_attention(q):\n    return q\ndef f(q):\n    return scaled_dot_product_attention(q)",
    "own method": "class A:\n    def scaled_dot_product_attention(self, q):\n        return q\n    def go(self, q):\n        return self.scaled_dot_product_attention(q)\ndef f(q):\n    return A().go(q)",
    "own class": "class MultiheadAttention(nn.Module):\n    pass\ndef f(q):\n    return MultiheadAttention()",
    "message": "def f(q):\n    raise ValueError('scaled_dot_product_attention is off limits')",
    "printed": "def f(q):\n    print('scaled_dot_product_attention', q)\n    return q",
    "key": "def f(q):\n    return {'scaled_dot_product_attention': q}['scaled_dot_product_attention']",
    "other fetching": "def f(q):\n    print('scaled_dot_product_attention')\n    return getattr(torch, 'exp')(q)",
    "long name": "def f(q):\n    scaled_dot_product_attention_weights = q\n    return scaled_dot_product_attention_weights",
    "own attention module": "class attention:\n    pass\ndef f(q):\n    return attention",
}


@pytest.mark.parametrize("road", ROADS)
def test_a_road_to_a_forbidden_name_is_seen(road: str) -> None:
    broken = broken_rules(HEAD + ROADS[road] + "\n", RULES, ("f",))

    assert broken and "f" in broken[0].functions


@pytest.mark.parametrize("case", INNOCENT)
def test_innocent_code_is_left_alone(case: str) -> None:
    assert broken_rules(HEAD + INNOCENT[case] + "\n", RULES, ("f",)) == ()


def test_only_the_functions_that_use_it_lose_their_points() -> None:
    source = HEAD + "def f(q):\n    return F.scaled_dot_product_attention(q)\n\n\ndef g(q):\n    return q\n"

    assert broken_rules(source, RULES, ("f", "g"))[0].functions == ("f",)


def test_an_operator_is_known_by_all_words_of_the_name() -> None:
    assert last_matches("_scaled_dot_product_efficient_attention", "scaled_dot_product_attention")
    assert last_matches("_native_multi_head_attention", "MultiheadAttention")
    assert last_matches("native_layer_norm", "layer_norm")
    assert not last_matches("attention_product", "scaled_dot_product_attention")


RIGHT = [path for exercise in builtin().exercises for path in (exercise.solution, exercise.stub, *sorted(exercise.alternatives.glob("*.py")))]


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_no_right_submission_breaks_a_rule(path) -> None:  # type: ignore[no-untyped-def]
    exercise = next(exercise for exercise in builtin().exercises if path in (exercise.solution, exercise.stub) or path.parent == exercise.alternatives)

    assert broken_rules(path.read_text(encoding="utf-8"), exercise.off_limits, exercise.functions) == ()


BOMBS = {
    "doubling strings": "a0 = 'x'\n" + "".join(f"a{i + 1} = a{i} + a{i}\n" for i in range(60)) + "getattr(F, a60)\n",
    "doubling numbers": "a0 = 1\n" + "".join(f"a{i + 1} = a{i} + a{i}\n" for i in range(60)) + "getattr(F, chr(a60))\n",
    "a wide format": "getattr(F, '%1000000000d' % 1)\ngetattr(F, '{:>1000000000}'.format(1))\ngetattr(F, f'{1:>1000000000}')\ngetattr(F, '%*d' % (10**9, 1))\n",
    "replacing": "getattr(F, '" + "a" * 9000 + "'.replace('a', '" + "b" * 9000 + "'))\n",
    "a long chain": ("x = F" + ".a" * 198 + "\n") * 150,
    "doubling lists": "a0 = [1]\n" + "".join(f"a{i + 1} = [a{i}, a{i}]\n" for i in range(60)) + "getattr(F, ''.join(a60))\n",
    "eval of evals": "eval('eval(\"eval(1)\")')\n" * 500,
    "a long name to import": "import a" + ".a" * 199 + "\nfrom a" + ".a" * 199 + " import " + "b" * 90_000 + "\n",
    "zipped with itself": "T = (" + "0," * 60_000 + ")\nfor a in zip(" + "T," * 60_000 + "): pass\n",
    "loops over one tuple": "T = (" + "0," * 50_000 + ")\n" + "for a in enumerate(T): pass\n" * 4000,
    "either or": "a = " + "1 if b else " * 900 + "2\n",
    "every product": "".join(f"n{i} = 'a'\n" for i in range(9000)) + "for a in ('b',) * 1, 'c': pass\nfor c in (" + "'c'," * 60 + "): getattr(F, c)\n" + "getattr(F, c)\n" * 4000,
    "frames": "def g(x):\n" + "".join(f"    getattr(F, x + 'a{i}')\n" for i in range(16)) + "".join(f"'b{i}'.c\n" for i in range(20_000)),
    "many names": "".join(f"n{i} = 'a{i}'\n" for i in range(3000)) + "".join(f"getattr(F, n{i} + n{i})\n" for i in range(3000)),
}


@pytest.mark.parametrize("name", BOMBS)
def test_reading_takes_bounded_time(name: str) -> None:
    started = time.process_time()

    with contextlib.suppress(Unreadable):  # given up on with a sentence
        broken_rules(read_source((HEAD + BOMBS[name]).encode(), "bomb.py"), RULES, ("f",))

    assert time.process_time() - started < 5


LETTERS = "A = [" + "'a'," * 3900 + "]\n"
ENDLESS = {
    "letters from a list": "f = getattr\n" + LETTERS + "f(F, A[0])\n" * 10_000,
    "joined lists": "f = getattr\n" + LETTERS + "f(F, ''.join(A))\n" * 8_000,
    "texts of code": "B = '" + "a+" * 4900 + "a'\n" + "eval(B + '')\n" * 15_000,
    "names from modules imported by *": "".join(f"from m{i} import *\n" for i in range(16)) + "".join(f"a{i}\n" for i in range(20_000)),
    "paths": "import x\n" + "".join("x" + "".join(f".a{i}" for i in range(line, line + 150)) + "\n" for line in range(0, 30_000, 150)),
    "letter by letter": "f = getattr\n" + "f(F, ''.join([c for c in 'a' * 3900]))\n" * 5_000,
}


@pytest.mark.parametrize("name", ENDLESS)
def test_strings_put_together_without_end_are_given_up_on_with_a_sentence(name: str) -> None:
    started = time.process_time()

    with pytest.raises(Unreadable, match="puts strings together without end"):
        broken_rules(read_source((HEAD + ENDLESS[name]).encode(), "bomb.py"), RULES, ("f",))

    assert time.process_time() - started < 10


def test_a_statement_of_many_names_keeps_them_once() -> None:
    tree = ast.parse(",".join(f"a{i}" for i in range(2000)) + " = f(" + ",".join(f"a{i}" for i in range(2000)) + ")\ndef g(): return a7")
    tracemalloc.start()
    reach = reachable(tree, ("g",))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert {"g", "a0", "a1999", "f"} <= reach["g"] and peak < 10 << 20


def test_what_is_shown_of_a_long_expression_is_its_path() -> None:
    long = "g(" + "q, " * 60_000 + ").scaled_dot_product_attention" + "[0].scaled_dot_product_attention" * 400

    (broken, *_) = broken_rules(f"{HEAD}def f(q):\n    return {long}\n", RULES, ("f",))

    assert broken.shown == "scaled_dot_product_attention"


def test_a_file_that_reads_for_ever_gets_a_verdict(graded) -> None:  # type: ignore[no-untyped-def]
    verdict = graded("exercise03", HEAD + ENDLESS["texts of code"], name_mistakes=False)

    assert verdict.word is Word.FAILED and verdict.reason is Reason.LOAD_ERROR
    assert "nobody reads that" in verdict.message


@pytest.mark.parametrize("source", ["import a" + ".a" * 100_000, "from a" + "\\\n . a" * 30_000 + " import b", "x = a" + ".a" * 100_000])
def test_names_strung_together_without_end_are_refused_before_python_takes_memory_for_them(source: str) -> None:
    with pytest.raises(Unreadable, match="200 names"):
        read_source(source.encode(), "bomb.py")


def test_strings_full_of_braces_are_refused_before_python_takes_minutes_for_them() -> None:
    with pytest.raises(Unreadable, match="more than 10000 opening braces"):
        read_source(('x = 1\ny = f"""' + "{x}" * 20_000 + '"""\n').encode(), "bomb.py")


def test_numbers_and_sentences_are_no_strung_names() -> None:
    text = '"""' + "0. " * 400 + "\n" + "A. Vaswani et al. wrote this. " * 100 + '"""\nx = [' + "1.5, .5, 2., " * 300 + "]\n"

    assert read_source(text.encode(), "numbers.py") == text


INNOCENT_ROADS = '''

@torch.compile(fullgraph=True, mode="max-autotune")
def _times(q, k):
    return q @ k.mT


@torch.jit.script
def _rows(x):
    return torch.nn.functional.softmax(x, -1)


_plain = causal_attention


def causal_attention(q, k, v):
    import torch.utils.checkpoint

    one = torch.ones(2, 2)
    _times(one, one), _rows(one), torch.vmap(_rows)(one), torch.func.jacrev(torch.exp)(one), torch.optim.SGD([one.requires_grad_()], 0.1)
    return torch.utils.checkpoint.checkpoint(_plain, q, k, v, use_reentrant=False)
'''


def test_what_the_framework_offers_beside_is_left_to_a_right_submission(graded):  # type: ignore[no-untyped-def]
    source = builtin().find("exercise03").solution.read_text(encoding="utf-8") + INNOCENT_ROADS

    assert graded("exercise03", source).word is Word.PASSED
