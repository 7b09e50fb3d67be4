"""Whether a path, a string or a symbol names an entry of an exercise's off-limits list. Pure."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from fnmatch import fnmatchcase

from ..catalog import OffLimits

TELLING = 8  # letters: a shorter name stands inside too many others
LINKED = ("_Z", "aoti_torch_")  # how symbols of C++ and of the framework's C begin


def symbols(value: object, off_limits: tuple[OffLimits, ...]) -> Iterator[OffLimits]:
    """The entries whose function a text names as the linker does: ``_ZN2at10layer_norm...``. Only what calls C needs such a text."""
    text = value.decode("latin-1") if isinstance(value, bytes) else value if isinstance(value, str) else ""
    letters = squeezed(text) if text.startswith(LINKED) else ""
    for entry in off_limits if letters else ():
        bare = squeezed(entry.name.rpartition(".")[2].replace("*", ""))
        if entry.kind != "module" and len(bare) >= TELLING - 1 and bare in letters:
            yield entry


@functools.lru_cache(maxsize=4096)
def matching(off_limits: tuple[OffLimits, ...], path: str, text: bool) -> tuple[OffLimits, ...]:
    """The entries that a path (or a string) names."""
    return tuple(entry for entry in off_limits if matches(entry, path, text))


def matches(entry: OffLimits, path: str, text: bool = False) -> bool:
    """Whether a dotted path (or, with ``text``, a string) names an entry of the list."""
    bare = path.removeprefix("?.")
    if entry.kind == "module":
        return bare == entry.name or bare.startswith(entry.name + ".")
    if entry.kind == "path":
        if text or path.startswith("?."):
            return bare == entry.name
        return bare == entry.name or bare.startswith(entry.name + ".")
    last = bare.rpartition(".")[2]
    parts = bare.split(".")
    return last_matches(last, entry.name) or (not text and any(last_matches(part, entry.name) for part in parts))


def last_matches(name: str, wanted: str) -> bool:
    """``scaled_dot_product_attention`` also means ``_scaled_dot_product_attention_math``; a pattern with ``*`` means what it says."""
    if "*" in wanted:
        return fnmatchcase(name, wanted)
    bare = name.lstrip("_").removeprefix("native_")
    hidden = bare != name and (bare.startswith(wanted) or variant(bare, wanted))
    return name == wanted or name == wanted + "_" or hidden


def variant(name: str, wanted: str) -> bool:
    """``scaled_dot_product_flash_attention_for_cpu`` of ``scaled_dot_product_attention``: all its words, in its order; ``multi_head`` of ``Multihead``."""
    words = iter(name.split("_"))
    in_order = "_" in wanted and all(word in words for word in wanted.split("_"))
    return in_order or (len(wanted) >= TELLING and squeezed(wanted) in squeezed(name))


def squeezed(name: str) -> str:
    """A name without what separates its words."""
    return name.replace("_", "").lower()
