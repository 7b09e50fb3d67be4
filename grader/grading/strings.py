"""Folding: the string that an expression of constants comes to, so that a spelt-apart name is still read as one. Nothing is executed."""

from __future__ import annotations

import ast
import base64
import codecs
from collections.abc import Callable, Mapping
from typing import Any

CAP = 10_000
METHODS = {"join", "replace", "lower", "upper", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "title", "capitalize", "swapcase", "format",
           "encode", "decode", "casefold", "translate", "split", "hex", "fromhex"}
CALLS: dict[str, Callable[..., Any]] = {
    "chr": chr, "bytes": bytes, "str": str, "reversed": lambda x: list(reversed(x)), "list": list, "tuple": tuple, "map": lambda f, x: [f(i) for i in x],
    "b64decode": base64.b64decode, "unhexlify": bytes.fromhex, "a85decode": base64.a85decode, "b32decode": base64.b32decode, "ord": ord, "sorted": sorted,
}


class Unfolded(Exception):
    """Not an expression of constants."""


def fold(node: ast.AST, names: Mapping[str, ast.expr] | None = None) -> str | None:
    """The string that ``node`` comes to, following names bound once to constants; None if it is anything else."""
    try:
        value = _fold(node, names or {}, 0)
    except (Unfolded, ValueError, TypeError, LookupError, OverflowError, MemoryError, AttributeError):
        return None
    if isinstance(value, (bytes, bytearray)):
        value = bytes(value).decode("latin-1")
    return value if isinstance(value, str) else None


def _fold(node: ast.AST, names: Mapping[str, ast.expr], depth: int) -> Any:
    if depth > 40:
        raise Unfolded
    down = lambda child: _fold(child, names, depth + 1)  # noqa: E731  - a three-word recursion
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name) and node.id in names:
        return _fold(names[node.id], {key: value for key, value in names.items() if key != node.id}, depth + 1)
    if isinstance(node, (ast.Tuple, ast.List)):
        return [down(item) for item in node.elts]
    if isinstance(node, ast.JoinedStr):
        return "".join(str(down(part.value if isinstance(part, ast.FormattedValue) else part)) for part in node.values)
    if isinstance(node, ast.BinOp):
        return _binary(node, down)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -down(node.operand)
    if isinstance(node, ast.Subscript):
        return down(node.value)[_slice(node.slice, down)]
    if isinstance(node, ast.Call) and not node.keywords:
        return _call(node, down)
    raise Unfolded


def _binary(node: ast.BinOp, down: Callable[[ast.AST], Any]) -> Any:
    left, right = down(node.left), down(node.right)
    if isinstance(node.op, ast.Add) and type(left) is type(right):
        value = left + right
    elif isinstance(node.op, ast.Mod) and isinstance(left, str):
        value = left % (tuple(right) if isinstance(right, list) else right)
    elif isinstance(node.op, (ast.Add, ast.Sub, ast.BitXor)) and isinstance(left, int) and isinstance(right, int):
        value = left + right if isinstance(node.op, ast.Add) else left - right if isinstance(node.op, ast.Sub) else left ^ right
    else:
        raise Unfolded
    if isinstance(value, (str, bytes, list)) and len(value) > CAP:
        raise Unfolded
    return value


def _slice(node: ast.AST, down: Callable[[ast.AST], Any]) -> Any:
    if isinstance(node, ast.Slice):
        return slice(*(None if part is None else down(part) for part in (node.lower, node.upper, node.step)))
    return down(node)


def _call(node: ast.Call, down: Callable[[ast.AST], Any]) -> Any:
    args = [down(arg) if not (isinstance(arg, ast.Name) and arg.id in ("chr", "ord")) else CALLS[arg.id] for arg in node.args]
    if any(isinstance(arg, (int, float)) and not isinstance(arg, bool) and abs(arg) > 0x10FFFF for arg in args):
        raise Unfolded
    if isinstance(node.func, ast.Name) and node.func.id in CALLS:
        if node.func.id in ("bytes", "str") and not isinstance(args[0], (list, str)):
            raise Unfolded
        return CALLS[node.func.id](*args)
    if isinstance(node.func, ast.Attribute):
        if node.func.attr in CALLS and isinstance(node.func.value, ast.Name):
            return CALLS[node.func.attr](*args)
        if isinstance(node.func.value, ast.Name) and node.func.value.id == "codecs" and node.func.attr == "decode" and args[1:] in (["rot13"], ["rot_13"]):
            return codecs.decode(args[0], "rot13")
        if isinstance(node.func.value, ast.Name) and node.func.value.id == "bytes" and node.func.attr == "fromhex":
            return bytes.fromhex(args[0])
        owner = down(node.func.value)
        if node.func.attr in METHODS and isinstance(owner, (str, bytes)):
            return getattr(owner, node.func.attr)(*args)
    raise Unfolded
