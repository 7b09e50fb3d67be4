"""A launch made anew from what was told of it (``launch.py``), in a worker that never loaded the submission, and run there.

Runs beside ``worker.py``. Of a function its text alone is taken: without decorators, default values or annotations, so that defining it runs nothing.
"""

from __future__ import annotations

import ast
import builtins
import collections
import enum
import linecache
import sys
import textwrap
import types
import zlib

import numpy as np

try:
    import follow
    import purity
    import wire
except ImportError:
    from . import follow, purity, wire

CAUSES = 5
FOLDED = "__folded_{}"  # names that stand for the default values of a kernel's parameters
CONSTEXPR = "constexpr"  # as Triton reads it
LANGUAGE = "__language"


class Rebuilt:
    """A launch made anew from what was told of it, beside ``arguments`` (flat tensors) that were built for it here."""

    def __init__(self, told, arguments, margin, made):
        self.told, self.arguments, self.margin, self.whole, self.programs = told, arguments, margin, [], None
        self.functions = made.setdefault(repr(told["functions"]), {})  # by their texts and all that they reach: made once
        self.storages = [self.storage(one) for one in told["storages"]]
        self.args = [self.value(node) for node in told["args"]]
        self.kwargs = {name: self.value(node) for name, node in told["kwargs"].items()}
        self.kernel = self.function(0)
        self.before = [self.bytes_of(flat) if "argument" in one else None for one, flat in zip(told["storages"], self.storages, strict=True)]

    @staticmethod
    def bytes_of(flat):
        """What stands in an argument's memory now."""
        return octets(flat).numpy().tobytes()

    def storage(self, told):
        """Flat memory: an argument's own, or the bytes that were told, between two margins of poison."""
        torch = sys.modules["torch"]
        if "argument" in told:
            self.whole.append(None)
            return self.arguments[told["argument"]]
        data, kind = told["octets"].data, getattr(torch, told["dtype"])
        size = data.nbytes // kind.itemsize
        whole = torch.full((size + 2 * self.margin,), float("nan") if kind.is_floating_point else 77 if kind is not torch.bool else True, dtype=kind)
        self.whole.append((whole, octets(whole[:1]).numpy().copy()))
        flat = whole[self.margin : self.margin + size]
        octets(flat).copy_(torch.from_numpy(data.reshape(-1).copy())[: size * kind.itemsize])
        return flat

    def function(self, number):
        """A jitted function, compiled from its text alone."""
        if number in self.functions:
            return self.functions[number]
        told, triton = self.told["functions"][number], sys.modules["triton"]
        named = self.by_name(told["globals"])
        text, name = header_and_body(told, named)
        file = f"{follow.FOLDER}{number}_{zlib.crc32(text.encode()):x}.py"  # the same name in every worker
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        space = {"__builtins__": builtins, "__name__": f"kernel_{number}", CONSTEXPR: triton.language.constexpr, **({LANGUAGE: triton.language} if named else {})}  # the interpreter spends a millisecond on each name of it
        exec(compile(text, file, "exec", dont_inherit=True), {**space, CONSTEXPR: None, **{FOLDED.format(name): None for name in told["defaults"]}}, apart := {})
        made = types.FunctionType(apart[name].__code__, space, name)
        made.__annotations__ = dict.fromkeys(told["constexpr"], triton.language.constexpr)
        defaults = {name: self.value(node) for name, node in told["defaults"].items()}
        by_place = made.__code__.co_varnames[: made.__code__.co_argcount]
        made.__defaults__ = tuple(defaults[name] for name in by_place if name in defaults) or None
        made.__kwdefaults__ = {name: value for name, value in defaults.items() if name not in by_place} or None
        self.functions[number] = wrapped = (triton.constexpr_function if told["kind"] == "constexpr_function" else triton.jit)(made)
        space.update({FOLDED.format(name): value for name, value in defaults.items()})
        space.update({name: self.value(node) for name, node in told["globals"].items()})
        return wrapped

    def by_name(self, described):
        """Functions of Triton's that a file imports by their names, each as it is taken out of its module: the interpreter puts others there, for a time."""
        language, found = sys.modules["triton"].language, {}
        for name, (kind, *parts) in described.items():
            value = self.value([kind, *parts]) if kind == "part" else None
            if isinstance(value, types.FunctionType) and getattr(language, value.__name__, None) is value:
                found[name] = f"{LANGUAGE}.{value.__name__}"
        return found

    def value(self, node):
        """A value from its description. What it may be was decided where it was told; ``purity`` looks at what came of it before it runs."""
        kind, *parts = node
        return getattr(self, "make_" + kind)(*parts)

    def make_plain(self, value):
        return value

    def make_module(self, name):
        return sys.modules[name]

    def make_part(self, module, name):
        return getattr(sys.modules[module], name)

    def make_pointer(self, element):
        return sys.modules["triton"].language.pointer_type(self.value(element))

    def make_space(self, parts):
        space = types.ModuleType("space")
        vars(space).update({name: self.value(node) for name, node in parts.items()})
        return space

    def make_dtype(self, name, home):
        return getattr(sys.modules["torch"], name) if home == "torch" else np.dtype(name)

    def make_kind(self, name):
        return sys.modules["triton"].language.dtype(name)

    def make_constexpr(self, node):
        return sys.modules["triton"].language.constexpr(self.value(node))

    def make_sequence(self, name, fields, items):
        values = [self.value(item) for item in items]
        return values if name == "list" else collections.namedtuple(name, fields)(*values) if fields else tuple(values)

    def make_record(self, name, fields):
        return collections.namedtuple(name, fields)

    def make_enum(self, name, members, value):
        made = enum.IntEnum(name, {str(key): int(number) for key, number in members})
        return made if value is None else made(value)

    def make_function(self, number):
        return self.function(number)

    def make_tensor(self, number, dtype, shape, strides, offset):
        torch = sys.modules["torch"]
        flat = self.storages[number]
        kind = getattr(torch, dtype)
        whole = torch.empty(0, dtype=kind).set_(flat.untyped_storage())
        first = flat.storage_offset() * flat.element_size() // kind.itemsize
        return whole.as_strided(shape, strides, first + offset)

    def make_descriptor(self, base, shape, strides, block, padding):
        from triton.tools.tensor_descriptor import TensorDescriptor

        return TensorDescriptor(self.value(base), shape, strides, block, padding)

    def run(self, visited=None):
        """Run the kernel, once it is seen to be Triton alone; nothing runs that isn't ``visited`` (frontend.py), if that is known. What it raises comes back told as for the wire, else None."""
        own = [flat for one, flat in zip(self.told["storages"], self.storages, strict=True) if "argument" not in one]
        self.programs = follow.Programs([flat for flat in own if flat.is_floating_point()])  # a counter that programs share is no result
        try:
            purity.check_launch(self.kernel, [*self.args, *self.kwargs.values()])
            for function in list(self.functions.values()):  # whatever road leads to them
                purity.check(purity.runs(function), ())
            with purity.named(), follow.followed(visited, self.programs, self.plain()):
                self.kernel[tuple(self.told["grid"])](*self.args, **self.kwargs)
        except Exception as error:
            bases = [base.__name__ for base in type(error).__mro__ if base.__module__ == "builtins"]  # of the interpreter's own error: what goes wrong in a kernel refuses nothing
            inner = cause(error)
            return {"type": type(inner).__name__, "bases": bases, "message": str(inner)[:4000], "line": line_of(error)}
        return None

    def plain(self):
        """Files of functions that a compiler runs as they are, on what it knows beforehand."""
        return {purity.runs(made).__code__.co_filename for number, made in self.functions.items() if self.told["functions"][number]["kind"] == "constexpr_function"}

    def written(self):
        """What stands in each memory now: of an argument only where that was changed."""
        now = [octets(flat).numpy() for flat in self.storages]
        return [wire.Array(data, "uint8", "ndarray") if before is None or data.tobytes() != before else None for data, before in zip(now, self.before, strict=True)]

    def spilled(self):
        """Numbers of the memories that were written past."""
        torch = sys.modules["torch"]

        def torn(edge, clean):
            return not bool((octets(edge).reshape(-1, len(clean)) == torch.from_numpy(clean)).all())

        return [n for n, held in enumerate(self.whole) if held is not None and (torn(held[0][: self.margin], held[1]) or torn(held[0][-self.margin :], held[1]))]


def octets(flat):
    """The bytes of a flat tensor, where they lie."""
    return flat.detach().view(sys.modules["torch"].uint8)


def header_and_body(told, by_name):
    """A function's text, every line where it stands in its file, with named default values and no other annotation than what is constexpr; and its name."""
    dedented = renamed(textwrap.dedent("\n".join(told["lines"]) + "\n"), by_name)
    node = ast.parse(dedented).body[0]
    node.decorator_list, node.returns = [], None
    for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, *filter(None, (node.args.vararg, node.args.kwarg))):
        one.annotation = ast.Name(CONSTEXPR) if one.arg in told["constexpr"] else None
    positional = [*node.args.posonlyargs, *node.args.args]
    node.args.defaults = [ast.Name(FOLDED.format(one.arg)) for one in positional[len(positional) - len(node.args.defaults) :]] if node.args.defaults else []
    node.args.kw_defaults = [ast.Name(FOLDED.format(one.arg)) if there is not None else None for one, there in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)]
    text, body = ast.unparse(ast.fix_missing_locations(node)) + "\n", node.body[0].lineno
    if body > 1:
        plain, rest = text, dedented.split("\n")[body - 1 : node.end_lineno]
        node.body = [ast.Pass()]
        head = ast.unparse(ast.fix_missing_locations(node)).rpartition("\n")[0]
        text = "\n" * (told["first"] + body - 3) + "\n".join([head, *rest]) + "\n"
        text = text if same_code(text, plain) else plain
    return text, node.name


def renamed(text, names):
    """A text in which names that are read stand as they are to be read; lines stay where they are."""
    lines = [line.encode() for line in text.split("\n")]
    places = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names] if names else []
    for node in sorted(places, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        line = lines[node.lineno - 1]
        lines[node.lineno - 1] = line[: node.col_offset] + names[node.id].encode() + line[node.end_col_offset :]
    return b"\n".join(lines).decode()


def same_code(text, plain):
    """Whether a text with its lines in their places is the function that was read, and nothing else."""
    try:
        return ast.dump(ast.parse(text)) == ast.dump(ast.parse(plain))
    except SyntaxError:
        return False


def cause(error):
    """What went wrong in a kernel, without the interpreter's wrapping of it."""
    for _ in range(CAUSES):
        if type(error).__name__ != "InterpreterError" or error.__cause__ is None:
            break
        error = error.__cause__
    return error


def line_of(error):
    """The line of the submission's file that an error of a kernel came from; None where no frame of a kernel's is left of it."""
    line, depth = None, 0
    while error is not None and depth < CAUSES:
        frames = error.__traceback__
        while frames is not None:
            if frames.tb_frame.f_code.co_filename.startswith(follow.FOLDER):
                line = frames.tb_lineno
            frames = frames.tb_next
        error, depth = error.__cause__ or error.__context__, depth + 1
    return line
