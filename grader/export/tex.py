"""A small TeX reader for formulas between dollar signs: to MathML, which browsers draw without a script. Unknown commands stay visible."""

from __future__ import annotations

import re
from html import escape

_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|[0-9]+(?:\.[0-9]+)?|\s+|.", re.DOTALL)
_DEEPEST = 40
_SYMBOLS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "varepsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ", "lambda": "λ",
    "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "ϕ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
    "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "ell": "ℓ", "infty": "∞",
}  # fmt: skip
_OPERATORS = {
    "cdot": "·", "times": "×", "pm": "±", "mp": "∓", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "approx": "≈", "sim": "∼",
    "propto": "∝", "equiv": "≡", "to": "→", "rightarrow": "→", "Rightarrow": "⇒", "in": "∈", "sum": "∑", "prod": "∏", "int": "∫", "partial": "∂",
    "nabla": "∇", "odot": "⊙", "otimes": "⊗", "oplus": "⊕", "ldots": "…", "cdots": "⋯", "dots": "…", "top": "⊤", "intercal": "⊺", "mid": "∣", "lVert": "‖",
    "rVert": "‖", "Vert": "‖", "|": "‖", "{": "{", "}": "}", "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "ll": "≪", "gg": "≫", "langle": "⟨",
    "rangle": "⟩", "prime": "′", "star": "⋆", "ast": "∗", "forall": "∀", "exists": "∃", "iff": "⇔", "implies": "⇒",
}  # fmt: skip
_FUNCTIONS = frozenset(["exp", "log", "ln", "max", "min", "sup", "inf", "det", "dim", "sin", "cos", "tanh", "lim", "Pr", "arg", "softmax", "diag", "Var"])
_ACCENTS = {"hat": "^", "bar": "¯", "tilde": "~", "vec": "→"}
_SPACES = {",": "0.17em", ";": "0.28em", ":": "0.22em", "!": "0", " ": "0.25em", "quad": "1em", "qquad": "2em"}
_TEXTS = frozenset(["text", "mathrm", "operatorname", "textrm", "mathsf", "texttt", "mathbf", "mathbb", "mathcal"])
_IGNORED = frozenset(["left", "right", "big", "Big", "bigl", "bigr", "Bigl", "Bigr", "displaystyle", "limits", "nolimits"])


def mathml(formula: str) -> str:
    """The formula as one `<math>` element; its source is kept in `alttext` for readers of the text."""
    reader = _Reader([t for t in _TOKEN.findall(formula) if not t.isspace()] if "\\text" not in formula else _TOKEN.findall(formula))
    return f'<math alttext="{escape(formula)}">{reader.row()}</math>'


class _Reader:
    def __init__(self, tokens: list[str]):
        self.tokens, self.at, self.depth = tokens, 0, 0

    def row(self, closing: str = "") -> str:
        """Everything up to `closing`, scripts attached to what they stand on."""
        parts: list[str] = []
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token == closing:
                self.at += 1
                break
            if token in "^_":
                parts.append(self._scripts(parts.pop() if parts else "<mrow></mrow>"))
            else:
                parts.append(self.one())
        return "".join(parts)

    def one(self) -> str:
        """The next token, or the next group in braces."""
        token = self._take()
        if token == "{":
            return self._group()
        if token.startswith("\\"):
            return self._command(token[1:].rstrip("*"))
        if token.isspace() or not token:
            return ""
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        return f"<mi>{escape(token)}</mi>" if token.isalpha() else f"<mo>{escape('−' if token == '-' else token)}</mo>"

    def _command(self, name: str) -> str:
        if name in ("frac", "tfrac", "dfrac"):
            return f"<mfrac>{self._argument()}{self._argument()}</mfrac>"
        if name == "sqrt":
            return f"<msqrt>{self._argument()}</msqrt>"
        if name in _ACCENTS:
            return f"<mover>{self._argument()}<mo>{_ACCENTS[name]}</mo></mover>"
        if name in _TEXTS:
            return self._text(name)
        if name in _IGNORED:
            return "" if self._peek() != "." else self._drop()
        if name in _SPACES:
            return f'<mspace width="{_SPACES[name]}"></mspace>'
        if name in _SYMBOLS:
            return f"<mi>{_SYMBOLS[name]}</mi>"
        if name in _OPERATORS:
            return f"<mo>{_OPERATORS[name]}</mo>"
        return f"<mi>{name}</mi>" if name in _FUNCTIONS else f"<mtext>\\{escape(name)}</mtext>"

    def _scripts(self, base: str) -> str:
        found: dict[str, str] = {}
        while self._peek() in ("^", "_") and self._peek() not in found:
            mark = self._take()
            found[mark] = self._argument()
        if len(found) == 2:
            return f"<msubsup>{base}{found['_']}{found['^']}</msubsup>"
        (mark, script), *_ = found.items()
        return f"<msub>{base}{script}</msub>" if mark == "_" else f"<msup>{base}{script}</msup>"

    def _argument(self) -> str:
        while self._peek().isspace():
            self.at += 1
        return f"<mrow>{self.one()}</mrow>" if self._peek() not in ("", "}") else "<mrow></mrow>"

    def _group(self) -> str:
        self.depth += 1
        inner = self.row("}") if self.depth < _DEEPEST else ""
        self.depth -= 1
        return f"<mrow>{inner}</mrow>"

    def _text(self, name: str) -> str:
        if self._peek() != "{":
            return self._argument()
        self.at += 1
        words = ""
        while (token := self._take()) not in ("}", ""):
            words += token
        style = ' style="font-weight:bold"' if name == "mathbf" else ""
        return f"<mtext{style}>{escape(words)}</mtext>"

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self.at += 1
        return token

    def _drop(self) -> str:
        self.at += 1
        return ""
