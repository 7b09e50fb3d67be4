"""Our texts as HTML: everything escaped, code in backquotes, formulas drawn, `d_k` and `10^6` with real indices."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from ..render.prose import blocks
from .tex import mathml

Formula = Callable[[str], str]
_PIECE = re.compile(r"`([^`\n]+)`|\$\$([^$]+)\$\$|\$([^\s$](?:[^$\n]*[^\s$])?)\$(?!\d)")
_SUB = re.compile(r"(?<![A-Za-z_\\])([A-Za-zα-ωΑ-Ω∂∇ℓ]|log|max|min|mu|rho|eps|sigma|alpha|beta)_(\{[^{}]{1,12}\}|[A-Za-z0-9]{1,3}(?![A-Za-z0-9_]))")
_SUP = re.compile(r"(?<=[\w)\]>‖|])\^(\([^()^]{1,14}\)|\{[^{}^]{1,14}\}|[-−+]?[A-Za-z0-9]{1,4}|[⊤*])")
_STRESS = re.compile(r"(?<![\w*])\*(?=[A-Za-z])([^*\n]{0,60}[A-Za-z.!?])\*(?![\w*])")
_INVALID = re.compile(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")


def mathjax(formula: str) -> str:
    """A formula for a program that brings MathJax: Anki, Moodle."""
    return f"\\({escape(formula)}\\)"


def html(text: str, formula: Formula = mathml) -> str:
    """A text of several blocks."""
    return "\n".join(_block(block.kind, block.lines, formula) for block in blocks(clean(text)))


def inline(text: str, formula: Formula = mathml) -> str:
    """A text inside a line."""
    out, at, joined = [], 0, " ".join(clean(text).split("\n"))
    for found in _PIECE.finditer(joined):
        code, display, math = found.groups()
        out += [_words(joined[at : found.start()]), f"<code>{escape(code)}</code>" if code else formula((display or math).strip())]
        at = found.end()
    return "".join([*out, _words(joined[at:])])


def items(texts: list[str], formula: Formula = mathml, tag: str = "ul") -> str:
    """A list; "" where there is nothing to list."""
    return f"<{tag}>" + "".join(f"<li>{inline(text, formula)}</li>" for text in texts) + f"</{tag}>" if texts else ""


def clean(text: str) -> str:
    """Without the characters that XML can't hold."""
    return _INVALID.sub("�", text)


def _block(kind: str, lines: tuple[str, ...], formula: Formula) -> str:
    if kind == "code":
        return "<pre>" + escape("\n".join(lines)) + "</pre>"
    return items(list(lines), formula) if kind == "list" else f"<p>{inline(lines[0], formula)}</p>"


def _words(text: str) -> str:
    escaped = _STRESS.sub(r"<em>\1</em>", escape(text, quote=False))
    return _SUP.sub(lambda m: f"<sup>{m[1].strip('(){}')}</sup>", _SUB.sub(lambda m: f"{m[1]}<sub>{m[2].strip('{}')}</sub>", escaped))
