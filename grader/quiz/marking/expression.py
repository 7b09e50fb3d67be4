"""Typed mathematics: a tokenizer and a precedence parser over a whitelist of names. Nothing is ever evaluated by Python itself.

Values are numbers, columns (`p`), rows (`p^T`) and square matrices, in plain Python. Whatever can't be read raises Unreadable with
the reason, which is not the same as a wrong answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

LONGEST, MOST_TOKENS, DEEPEST, HIGHEST_POWER = 400, 160, 30, 64


class Unreadable(ValueError):
    """The text is no expression in the names allowed; the message says why."""


@dataclass(frozen=True)
class Column:
    items: tuple[float, ...]


@dataclass(frozen=True)
class Row:
    items: tuple[float, ...]


@dataclass(frozen=True)
class Matrix:
    rows: tuple[tuple[float, ...], ...]


Value = float | Column | Row | Matrix
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ᵀᐟ", "0123456789-+T/")
_PLAIN = {
    "−": "-", "–": "-", "·": "*", "⋅": "*", "×": "*", "∙": "*", "÷": "/", "√": " sqrt ", "∞": " inf ", "δ": " delta", "σ": " sigma", "μ": " mu", "µ": " mu",
    "ρ": " rho", "λ": " lambda", "τ": " tau", "θ": " theta", "α": " alpha", "π": " pi", "ₖ": "_k", "ᵢ": "_i", "ⱼ": "_j", "₀": "_0", "₁": "_1", "₂": "_2",
    "[": "(", "]": ")", "’": "'", "½": "(1/2)", "¼": "(1/4)",
}  # fmt: skip
_LATEX = [
    (r"_\{\s*(\w+)\s*,?\s*(\w*)\s*\}", r"_\1\2"),
    (r"(_[a-z])_([a-z])\b", r"\1\2"),
    (r"\\sqrt\s*\{([^{}]*)\}", r" sqrt(\1)"),
    (r"\\(?:mathrm|text|operatorname|mathbf|boldsymbol)\s*\{([^{}]*)\}", r" \1"),
    (r"\\(?:cdot|times)(?![A-Za-z])", "*"),
    (r"\^\s*\{?\s*\\(?:top|intercal)\s*\}?", "^T"),
    (r"\\(?:left|right|,|;|!|quad|big)(?![A-Za-z])", " "),
    (r"\^\{([^{}]*)\}", r"^(\1)"),
    (r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"((\1)/(\2))"),
    (r"\\([A-Za-z]+)", r" \1"),
    (r"\$", " "),
    (r"\*\*", "^"),
    (r"\b(?:np|math|torch)\.", ""),
]
_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z]+(?:_[A-Za-z0-9]+)?)|(.))", re.DOTALL)
_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "sqrt": math.sqrt, "exp": math.exp, "log": math.log, "ln": math.log, "abs": abs, "cos": math.cos, "sin": math.sin, "tanh": math.tanh,
    "log2": math.log2, "log10": math.log10,
}  # fmt: skip
_SHAPED = ("diag", "outer", "norm", "sum", "dot", "max", "min")


def parse(text: str, names: Mapping[str, str]) -> Callable[[Mapping[str, Value]], Value]:
    """The expression as a function of its names' values; raises Unreadable."""
    return _Parser(_tokens(_plain(text), names)).whole()


def _plain(text: str) -> str:
    if len(text) > LONGEST:
        raise Unreadable(f"An expression has at most {LONGEST} characters; this one has {len(text)}.")
    text = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ᵀᐟ]+", _raised, text)
    for old, new in _PLAIN.items():
        text = text.replace(old, new)
    for pattern, new in _LATEX:
        text = re.sub(pattern, new, text)
    return text.replace("{", "(").replace("}", ")")


def _raised(match: re.Match[str]) -> str:
    plain = match.group().translate(_SUPERSCRIPT)
    return "^T" if "T" in plain else f"^({plain})"


def _tokens(text: str, names: Mapping[str, str]) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    for match in _TOKEN.finditer(text):
        number, word, sign = match.groups()
        if number:
            tokens.append(("number", number))
        elif word:
            tokens += _word(word, names)
        elif sign and sign.strip():
            if sign not in "+-*/^()@,'|":
                raise Unreadable(f"The sign {sign!r} has no meaning here; use + - * / ^ ( ) and the names {', '.join(names)}.")
            tokens.append(("sign", sign))
    if not tokens:
        raise Unreadable("There is no expression; type one.")
    if len(tokens) > MOST_TOKENS:
        raise Unreadable(f"An expression has at most {MOST_TOKENS} terms and signs; this one has {len(tokens)}.")
    return tokens


def _word(word: str, names: Mapping[str, str]) -> list[tuple[str, str]]:
    known = {_key(name): name for name in names}
    if word == "T":
        return [("transpose", "T")] if "T" not in names else [("name", "T")]
    if word in _FUNCTIONS or word in _SHAPED:
        return [("function", word)]
    if _key(word) in known:
        return [("name", known[_key(word)])]
    for cut in range(len(word) - 1, 0, -1):  # `pp` or `sqrtd`: names written together
        head, tail = word[:cut], word[cut:]
        if _key(head) in known or head in _FUNCTIONS or head in _SHAPED:
            return _word(head, names) + _word(tail, names)
    raise Unreadable(f"{word!r} isn't a name that this answer may use; use {', '.join(names) or 'numbers'}.")


def _key(name: str) -> str:
    return name.replace("_", "").lower() if len(name) > 1 else name


class _Parser:
    """Precedence climbing; every node is a closure over the names' values."""

    def __init__(self, tokens: list[tuple[str, str]]):
        self.tokens, self.at, self.depth = tokens, 0, 0

    def whole(self) -> Callable[[Mapping[str, Value]], Value]:
        node = self.addition()
        if self.at < len(self.tokens):
            raise Unreadable(f"What stands at {self.tokens[self.at][1]!r} can't be read; is a bracket or a sign missing before it?")
        return node

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "the end")

    def take(self, sign: str) -> bool:
        if self.peek() == ("sign", sign):
            self.at += 1
            return True
        return False

    def addition(self) -> Callable[[Mapping[str, Value]], Value]:
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unreadable(f"Brackets nest at most {DEEPEST} deep.")
        node = self.product()
        while self.peek() in (("sign", "+"), ("sign", "-")):
            plus = self.peek()[1] == "+"
            self.at += 1
            node = _node(_add if plus else _subtract, node, self.product())
        self.depth -= 1
        return node

    def product(self) -> Callable[[Mapping[str, Value]], Value]:
        node = self.signed()
        while True:
            if self.take("*") or self.take("@"):
                node = _node(_multiply, node, self.signed())
            elif self.take("/"):
                node = _node(_divide, node, self.signed())
            elif self.peek()[0] in ("number", "name", "function") or self.peek() == ("sign", "("):
                node = _node(_multiply, node, self.power())
            else:
                return node

    def signed(self) -> Callable[[Mapping[str, Value]], Value]:
        minus = False
        while self.peek() in (("sign", "-"), ("sign", "+")):
            minus ^= self.peek()[1] == "-"
            self.at += 1
        node = self.power()
        return _node(_multiply, lambda _: -1.0, node) if minus else node

    def power(self) -> Callable[[Mapping[str, Value]], Value]:
        node = self.atom()
        while True:
            if self.take("'") or self.peek()[0] == "transpose":
                self.at += self.peek()[0] == "transpose"
                node = _node(_transpose, node)
            elif self.take("^"):
                if self.peek()[0] == "transpose":
                    continue
                node = _node(_power, node, self.signed())
            else:
                return node

    def atom(self) -> Callable[[Mapping[str, Value]], Value]:
        kind, text = self.peek()
        self.at += 1
        if kind == "number":
            number = float(text)
            return lambda _: number
        if kind == "name":
            return lambda values: values[text]
        if kind == "function":
            return self.call(text)
        if (kind, text) == ("sign", "("):
            node = self.addition()
            if not self.take(")"):
                raise Unreadable("A bracket is never closed; close it.")
            return node
        raise Unreadable(f"A number, a name or a bracket was expected where {text!r} stands.")

    def call(self, name: str) -> Callable[[Mapping[str, Value]], Value]:
        if self.take("^"):  # sqrt^2 and its like
            raise Unreadable(f"Write {name}(...)^n instead of {name}^n(...).")
        if not self.take("("):
            return _node(_function(name), self.power())
        arguments = [self.addition()]
        while self.take(","):
            arguments.append(self.addition())
        if not self.take(")"):
            raise Unreadable(f"The bracket after {name} is never closed; close it.")
        return _node(_function(name), *arguments)


def _node(operation: Callable[..., Value], *parts: Callable[[Mapping[str, Value]], Value]) -> Callable[[Mapping[str, Value]], Value]:
    return lambda values: operation(*(part(values) for part in parts))


def _function(name: str) -> Callable[..., Value]:
    if name in _FUNCTIONS:
        plain = _FUNCTIONS[name]
        return lambda *values: _elementwise(plain, *values)
    shaped: dict[str, Callable[..., Value]] = {
        "diag": _diag, "outer": _outer, "norm": _norm, "sum": _sum, "dot": _dot, "max": _extreme(max), "min": _extreme(min),
    }  # fmt: skip
    return shaped[name]


def _elementwise(function: Callable[[float], float], *values: Value) -> Value:
    if len(values) != 1:
        raise Unreadable("That function takes one argument.")
    return _map(function, values[0])


def _map(function: Callable[[float], float], value: Value) -> Value:
    try:
        if isinstance(value, Column | Row):
            return type(value)(tuple(function(x) for x in value.items))
        if isinstance(value, Matrix):
            return Matrix(tuple(tuple(function(x) for x in row) for row in value.rows))
        return float(function(value))
    except (ValueError, OverflowError) as error:
        raise Unreadable(f"The expression has no value: {error}.") from error


def _zip(function: Callable[[float, float], float], one: Value, two: Value) -> Value:
    if isinstance(one, float) and not isinstance(two, float):
        return _map(lambda x: function(one, x), two)
    if isinstance(two, float):
        return _map(lambda x: function(x, two), one)
    if type(one) is not type(two):
        raise Unreadable("A column, a row and a matrix can't be added; is a transpose missing?")
    if isinstance(one, Matrix) and isinstance(two, Matrix):
        return Matrix(tuple(tuple(function(a, b) for a, b in zip(x, y, strict=True)) for x, y in zip(one.rows, two.rows, strict=True)))
    assert isinstance(one, Column | Row) and isinstance(two, Column | Row)
    return type(one)(tuple(function(a, b) for a, b in zip(one.items, two.items, strict=True)))


def _add(one: Value, two: Value) -> Value:
    return _zip(lambda a, b: a + b, one, two)


def _subtract(one: Value, two: Value) -> Value:
    return _zip(lambda a, b: a - b, one, two)


def _multiply(one: Value, two: Value) -> Value:
    if isinstance(one, float) or isinstance(two, float):
        return _zip(lambda a, b: a * b, one, two)
    if isinstance(one, Column) and isinstance(two, Row):
        return _outer(one, Column(two.items))
    if isinstance(one, Row) and isinstance(two, Column):
        return sum(a * b for a, b in zip(one.items, two.items, strict=True))
    if isinstance(one, Matrix) and isinstance(two, Column):
        return Column(tuple(sum(a * b for a, b in zip(row, two.items, strict=True)) for row in one.rows))
    if isinstance(one, Matrix) and isinstance(two, Matrix):
        return Matrix(tuple(tuple(sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*two.rows, strict=True)) for row in one.rows))
    raise Unreadable("That product of vectors isn't defined; write p p^T for the outer product and p^T p for the inner one.")


def _divide(one: Value, two: Value) -> Value:
    if not isinstance(two, float):
        raise Unreadable("Only a number can be divided by.")
    if two == 0:
        raise Unreadable("This divides by zero.")
    return _map(lambda x: x / two, one)


def _power(one: Value, two: Value) -> Value:
    if not isinstance(one, float) or not isinstance(two, float):
        raise Unreadable("Base and exponent must be numbers.")
    if abs(two) > HIGHEST_POWER:
        raise Unreadable(f"Exponents go up to {HIGHEST_POWER}.")
    try:
        value = one**two
    except (OverflowError, ZeroDivisionError) as error:
        raise Unreadable(f"The power has no value: {error}.") from error
    if isinstance(value, complex):
        raise Unreadable("A negative number has no such power.")
    return value


def _transpose(value: Value) -> Value:
    if isinstance(value, Column):
        return Row(value.items)
    if isinstance(value, Row):
        return Column(value.items)
    return Matrix(tuple(zip(*value.rows, strict=True))) if isinstance(value, Matrix) else value


def _diag(value: Value, *rest: Value) -> Value:
    if rest or not isinstance(value, Column | Row):
        raise Unreadable("diag takes one vector.")
    items = value.items
    return Matrix(tuple(tuple(x if i == j else 0.0 for j in range(len(items))) for i, x in enumerate(items)))


def _outer(one: Value, two: Value | None = None) -> Value:
    if not isinstance(one, Column | Row) or not isinstance(two, Column | Row):
        raise Unreadable("outer takes two vectors.")
    return Matrix(tuple(tuple(a * b for b in two.items) for a in one.items))


def _norm(value: Value, *rest: Value) -> Value:
    if rest or not isinstance(value, Column | Row):
        raise Unreadable("norm takes one vector.")
    return math.sqrt(sum(x * x for x in value.items))


def _sum(value: Value, *rest: Value) -> Value:
    if rest or not isinstance(value, Column | Row):
        raise Unreadable("sum takes one vector.")
    return float(sum(value.items))


def _dot(one: Value, two: Value | None = None) -> Value:
    if not isinstance(one, Column | Row) or not isinstance(two, Column | Row):
        raise Unreadable("dot takes two vectors.")
    return sum(a * b for a, b in zip(one.items, two.items, strict=True))


def _extreme(choose: Callable[..., float]) -> Callable[..., Value]:
    def extreme(*values: Value) -> Value:
        if len(values) == 1 and isinstance(values[0], Column | Row):
            return float(choose(values[0].items))
        if not all(isinstance(value, float) for value in values):
            raise Unreadable("max and min take numbers, or one vector.")
        return float(choose(values))

    return extreme
