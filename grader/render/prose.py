"""Written texts as blocks: paragraphs, lists and code, told apart the same way for a screen and for a page."""

from __future__ import annotations

import textwrap
import unicodedata
from dataclasses import dataclass

_NBSP = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Block:
    """`lines` are whole items: the one paragraph, the items of a list, the lines of code."""

    kind: str  # paragraph | list | code
    lines: tuple[str, ...]


def blocks(text: str) -> list[Block]:
    """A text's blocks; blank lines part them."""
    out: list[Block] = []
    for chunk in _chunks(text):
        if all(line.startswith("    ") for line in chunk):
            out.append(Block("code", tuple(textwrap.dedent("\n".join(chunk)).split("\n"))))
            continue
        bullets = next((n for n, line in enumerate(chunk) if line.lstrip().startswith(("- ", "* "))), len(chunk))
        if bullets:
            out.append(Block("paragraph", (" ".join(line.strip() for line in chunk[:bullets]),)))
        if bullets < len(chunk):
            out.append(Block("list", tuple(_items(chunk[bullets:]))))
    return out


def folded(text: str) -> str:
    """The text with the line breaks that mean something, and no others."""
    return "\n\n".join("\n".join(f"- {line}" if block.kind == "list" else line for line in block.lines) for block in blocks(text))


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """The text as lines for a screen."""
    lines: list[str] = []
    for block in blocks(shown(text)):
        if lines:
            lines.append("")
        for item in block.lines:
            if block.kind == "code":
                lines.append(f"{indent}    {item}")
            else:
                first, rest = ("- ", "  ") if block.kind == "list" else ("", "")
                lines += filled(item, width, indent + first, indent + rest)
    return lines


def filled(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """One paragraph as lines; formulas and long words are never broken inside where they fit on a line."""
    return textwrap.wrap(text, max(20, width), initial_indent=first, subsequent_indent=rest, break_on_hyphens=False) or [first.rstrip()]


def keys_told(keys: str, width: int) -> list[str]:
    """Keys with what they do, ` · ` between them, as lines: no key stands apart from its name."""
    whole = " · ".join(key.replace(" ", _NBSP) for key in keys.split(" · "))
    return [line.replace(_NBSP, " ") for line in filled(whole, width)]


def shown(text: str) -> str:
    """The text without characters that would steer a terminal."""
    return "".join(each if each in "\n\t" or unicodedata.category(each) not in ("Cc", "Cs", "Cf", "Zl", "Zp") else "�" for each in text).expandtabs(4)


def _chunks(text: str) -> list[list[str]]:
    chunks: list[list[str]] = [[]]
    for line in text.strip("\n").split("\n"):
        if line.strip():
            chunks[-1].append(line.rstrip())
        elif chunks[-1]:
            chunks.append([])
    return [chunk for chunk in chunks if chunk]


def _items(lines: list[str]) -> list[str]:
    items: list[str] = []
    for line in lines:
        if line.lstrip().startswith(("- ", "* ")) or not items:
            items.append(line.strip().removeprefix("- ").removeprefix("* "))
        else:
            items[-1] += " " + line.strip()
    return items
