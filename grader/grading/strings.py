"""Folding: the string that an expression of constants comes to, so that a spelt-apart name is still read as one. Nothing is executed.

Every fold spends from a budget, since an expression of a few letters can stand for one that takes for ever, and all folds of a file from its allowance.
"""

from __future__ import annotations

import ast
import base64
import codecs
import re
from collections.abc import Callable, Mapping
from typing import Any

CAP = 10_000  # characters or items that anything folded may have
STEPS = 4_000  # steps of one fold
ALLOWANCE = 3_000_000  # steps of all folds of a file: about a second, a hundred times what any file that was written by a person needs
ITEMS_A_STEP = 8  # characters or items that cost as much as a step
PARSED_AT = 20  # steps that a character costs which is parsed as code
DEPTH = 60
METHODS = {"join", "replace", "lower", "upper", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "title", "capitalize", "swapcase", "format",
           "encode", "decode", "casefold", "translate", "split", "hex", "fromhex"}
CALLS: dict[str, Callable[..., Any]] = {
    "chr": chr, "bytes": bytes, "str": str, "reversed": lambda x: list(reversed(x)), "list": list, "tuple": tuple, "map": lambda f, x: [f(i) for i in x],
    "b64decode": base64.b64decode, "unhexlify": bytes.fromhex, "a85decode": base64.a85decode, "b32decode": base64.b32decode, "ord": ord, "sorted": sorted,
}
WIDE = re.compile(r"\d{4}|\*")  # a width in a format, with which a short text makes a long one
ROTATIONS = ("rot13", "rot_13")


class Unfolded(Exception):
    """Not an expression of constants, or one that takes too much to read."""


class TooMuch(Exception):
    """A file whose strings take longer to put together than anybody's."""


class Allowance:
    """What is left for one file."""

    def __init__(self) -> None:
        self.left = ALLOWANCE

    def spend(self, steps: int) -> None:
        """Raises TooMuch where nothing is left."""
        self.left -= steps
        if self.left < 0:
            raise TooMuch


def fold(node: ast.AST, names: Mapping[str, ast.expr] | None = None, allowance: Allowance | None = None) -> str | None:
    """The string that ``node`` comes to, following names bound once to constants; None if it is anything else. Raises TooMuch."""
    folding = Folding(names or {})
    try:
        value = folding.fold(node, 0)
    except (Unfolded, ValueError, TypeError, LookupError, OverflowError, MemoryError, AttributeError, RecursionError):
        return None
    finally:
        if allowance is not None:
            allowance.spend(STEPS - folding.left + folding.items // ITEMS_A_STEP)
    if isinstance(value, (bytes, bytearray)):
        value = bytes(value).decode("latin-1")
    return value if isinstance(value, str) else None


class Folding:
    """One fold: the names it may follow, those it is following, and what is left of its budget."""

    def __init__(self, names: Mapping[str, ast.expr]):
        self.names = names
        self.following: set[str] = set()
        self.known: dict[str, Any] = {}
        self.left = STEPS
        self.items = 0

    def fold(self, node: ast.AST, depth: int) -> Any:
        """The value of an expression of constants. Raises Unfolded, and whatever its operations raise."""
        self.left -= 1
        if depth > DEPTH or self.left < 0:
            raise Unfolded
        value = self.value(node, depth + 1)
        if isinstance(value, (str, bytes, list, tuple)):
            self.items += len(value)
            if len(value) > CAP:
                raise Unfolded
        if isinstance(value, int) and abs(value) >> 64:
            raise Unfolded
        return value

    def value(self, node: ast.AST, depth: int) -> Any:
        """By kind of node."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.named(node.id, depth)
        if isinstance(node, (ast.Tuple, ast.List)):
            return [self.fold(item, depth) for item in node.elts]
        if isinstance(node, ast.JoinedStr):
            return "".join(str(self.part(part, depth)) for part in node.values)
        if isinstance(node, ast.BinOp):
            return binary(node.op, self.fold(node.left, depth), self.fold(node.right, depth))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.fold(node.operand, depth)
        if isinstance(node, ast.Subscript):
            return self.fold(node.value, depth)[self.place(node.slice, depth)]
        if isinstance(node, (ast.GeneratorExp, ast.ListComp)):
            return self.comprehension(node, depth)
        if isinstance(node, ast.Call) and not node.keywords:
            return self.call(node, depth)
        raise Unfolded

    def comprehension(self, node: ast.GeneratorExp | ast.ListComp, depth: int) -> list[Any]:
        """``chr(c ^ 1) for c in b"..."``: one name over one sequence."""
        loop = node.generators[0]
        if len(node.generators) != 1 or loop.ifs or not isinstance(loop.target, ast.Name):
            raise Unfolded
        items, name, found = self.fold(loop.iter, depth), loop.target.id, []
        for item in items:
            self.known[name] = item
            found.append(self.fold(node.elt, depth))
        self.known.pop(name, None)
        return found

    def named(self, name: str, depth: int) -> Any:
        """What a name stands for; each is worked out once."""
        if name not in self.known:
            if name not in self.names or name in self.following:
                raise Unfolded
            self.following.add(name)
            self.known[name] = self.fold(self.names[name], depth)
            self.following.discard(name)
        return self.known[name]

    def part(self, part: ast.expr, depth: int) -> Any:
        """A piece of an f-string; one with a format is not read."""
        if not isinstance(part, ast.FormattedValue):
            return self.fold(part, depth)
        if part.format_spec is not None:
            raise Unfolded
        return self.fold(part.value, depth)

    def place(self, node: ast.AST, depth: int) -> Any:
        """An index or a slice."""
        if isinstance(node, ast.Slice):
            return slice(*(None if part is None else self.fold(part, depth) for part in (node.lower, node.upper, node.step)))
        return self.fold(node, depth)

    def call(self, node: ast.Call, depth: int) -> Any:
        """One of the few calls that put strings together."""
        args = [CALLS[arg.id] if isinstance(arg, ast.Name) and arg.id in ("chr", "ord") else self.fold(arg, depth) for arg in node.args]
        if any(isinstance(arg, (int, float)) and not isinstance(arg, bool) and abs(arg) > 0x10FFFF for arg in args):
            raise Unfolded
        if isinstance(node.func, ast.Name):
            return self.function(node.func.id, args)
        if isinstance(node.func, ast.Attribute):
            return self.method(node.func, args, depth)
        raise Unfolded

    def function(self, name: str, args: list[Any]) -> Any:
        """A call by a plain name."""
        if name not in CALLS or (name in ("bytes", "str") and not (args and isinstance(args[0], (list, str)))):
            raise Unfolded
        return CALLS[name](*args)

    def method(self, func: ast.Attribute, args: list[Any], depth: int) -> Any:
        """A call on a module or on a string."""
        home = func.value.id if isinstance(func.value, ast.Name) else ""
        if home == "codecs" and func.attr == "decode" and len(args) == 2 and args[1] in ROTATIONS:
            return codecs.decode(args[0], "rot13")
        if home == "bytes" and func.attr == "fromhex":
            return bytes.fromhex(args[0])
        if home and home not in self.names and func.attr in CALLS:
            return CALLS[func.attr](*args)
        owner = self.fold(func.value, depth)
        if func.attr not in METHODS or not isinstance(owner, (str, bytes)) or grows(func.attr, owner, args):
            raise Unfolded
        return getattr(owner, func.attr)(*args)


def grows(method: str, owner: str | bytes, args: list[Any]) -> bool:
    """Whether a method could make much out of little."""
    if method == "format":
        return not isinstance(owner, str) or bool(WIDE.search(owner))
    sizes = [len(arg) for arg in args if isinstance(arg, (str, bytes))] + [sum(len(str(item)) for item in arg) for arg in args if isinstance(arg, list)]
    return method in ("join", "replace", "translate") and max(len(owner), 1) * max(sizes, default=1) > 100 * CAP


def binary(operator: ast.operator, left: Any, right: Any) -> Any:
    """The operators that put strings, or the numbers of characters, together."""
    if isinstance(operator, ast.Add) and type(left) is type(right):
        return left + right
    if isinstance(operator, ast.Mod) and isinstance(left, str) and not WIDE.search(left):
        return left % (tuple(right) if isinstance(right, list) else right)
    if isinstance(left, int) and isinstance(right, int):
        if isinstance(operator, ast.Sub):
            return left - right
        if isinstance(operator, ast.BitXor):
            return left ^ right
    if isinstance(operator, ast.Mult) and isinstance(left, str) and isinstance(right, int) and len(left) * right <= CAP:
        return left * right
    raise Unfolded
