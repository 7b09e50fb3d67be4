"""One spelling for what people type: LaTeX, Unicode and ASCII mathematics become the same atoms.

`normalise(text)` gives a lower-case text and, for each of its characters, the place in the original that it came from, so that
evidence can be shown in the person's own words. Every rule is a bounded regular expression, and no run of blanks is long when one is
applied (rules have up to three in a row that may take any of them, which over one long run goes by the cube): the time is linear in the text.
"""

from __future__ import annotations

import re
import unicodedata

from .dictated import DICTATED
from .notation import ENTRIES, width_letter
from .places import Change, shortened, substitute

_SUB = dict(zip("₀₁₂₃₄₅₆₇₈₉ᵢⱼₖₘₙₚₜ", "0123456789ijkmnpt", strict=True))
_SUP = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ᵀᵗᵏⁱ", "0123456789-+ttki", strict=True)) | {"ᐟ": "/", "⁄": "/"}
_CHARS = {
    "π": "pi", "ω": " omega ", "κ": " kappa ", "ψ": " psi ", "ξ": " xi ", "ζ": " zeta ",
    "∞": "inf", "√": "sqrt", "·": "*", "⋅": "*", "∙": "*", "×": "*", "•": "\n- ", "−": "-", "–": "-", "—": " ; ", "≈": "~", "≃": "~",
    "≅": "~", "∼": "~", "∝": "~",
    "η": " eta ", "ε": " eps ", "ϵ": " eps ", "λ": " lambda ", "β": " beta ", "γ": " gamma ", "φ": " phi ", "ϕ": " phi ", "τ": " tau ", "→": " -> ", "⇒": " -> ", "⟶": " -> ", "⟹": " -> ", "↦": " -> ", "≤": "<=", "≥": ">=", "⩾": ">=",
    "≠": "!=", "∑": " sum ", "Σ": " sum ", "δ": " delta ", "Δ": " delta ", "σ": "sigma", "μ": "mu", "µ": "mu", "α": "alpha", "θ": "theta",
    "Θ": "o", "ρ": "rho", "⊤": "^t", "‖": "|", "∂": "d", "⟨": "<", "⟩": ">", "’": "'", "‘": "'", "`": " ", "“": '"', "”": '"', "½": "1/2",
    "¼": "1/4", "₋": "-", "⊗": " outer ", "⊥": " independent ", "⫫": " independent ", "∇": " gradient ", "≡": "=", "≔": "=", "∈": " in ",
    "′": "'", "↑": " grows ", "…": "...", "⇏": " not imply ", "↛": " not -> ", "∉": " not in ", "∄": " no ", "≉": " not ~ ", "≁": " not ~ ",
    "≢": "!=", "←": " = ", "⟵": " = ", "∀": " for all ", "≪": " much less than ", "↔": " to ", "↓": " shrinks ",
}  # fmt: skip
_LOOKALIKE = dict(zip("аеорсхіјѕԁһԛ", "aeopcxijsdhq", strict=True))

_K = r"d_k"
_I, _OPEN, _CLOSE = r"[ijkmn1]", r"\s*[({\[]?\s*", r"\s*[)}\]]?"

_LATEX: list[tuple[str, Change]] = [
    (r"\\(?:mathbb|mathbf|mathrm|operatorname|text)\s*\{?\s*e\s*\}?(?![a-z])", " expect "),
    (r"\\(?:mathbb|mathbf|mathds|mathbbm|bm)\s*\{?\s*1\s*\}?(?:\s*_?\s*\\?[\[({]+\s*[a-z]\s*=?\s*[a-z]\s*\\?[\])}]+)?", " delta_ij "),
    (r"\\(?:perp\s*\\?!?\s*)+(?:\\perp)?", " independent "),
    (r"\\langle\s*([^,<>|\\]{1,30}?)\s*\\rangle", r" expect (\1)"),
    (r"\\nabla", " gradient "),
    (r"(?<=[a-z])(?=\\(?:text|mathrm|operatorname)\b)", " "),
    (r"\\(?:text|mathrm|operatorname|mathbf|mathbb|mathcal|bm|boldsymbol|textbf|textit|emph)\*?\s*\{([^{}]{0,80})\}", r"\1"),
    (r"([a-z])_\{\s*k\s*\}", r"\1_k"),
    (r"\\sqrt\s*\{([^{}]{0,80})\}", r" sqrt(\1)"),
    (r"\\[dt]?frac\s*\{([^{}]{0,80})\}\s*\{([^{}]{0,80})\}", r"\1/\2"),
    (r"\\[dt]?frac\s*(\w)\s*(\w)", r"\1/\2"),
    (r"\\(?:nrightarrow|nimplies|not\s*\\(?:rightarrow|implies|to))(?![a-z])", " not imply "),
    (r"\\(?:leftarrow|gets|coloneqq)(?![a-z])", " = "),
    (r"\\forall(?![a-z])", " for all "),
    (r"\\ll(?![a-z])", " much less than "),
    (r"\\gg(?![a-z])", " > "),
    (r"\\(?:mid|left|right|[bB]ig{1,2}[lrm]?|q?quad|displaystyle|textstyle|limits)(?![a-z])|\\[,;!: ]", " "),
    (r"\\(?:infty|infinity)(?![a-z])", "inf"),
    (r"\\cdot\b|\\times\b|\\odot(?![a-z])", "*"),
    (r"\^\s*\{?\s*\\(?:top|intercal|mathsf\s*\{?\s*t\s*\}?|mathrm\s*\{?\s*t\s*\}?)\s*\}?", "^t"),
    (r"\\(?:approx|sim|simeq|propto|asymp)(?![a-z])", "~"),
    (r"\\(?:to|rightarrow|longrightarrow|implies|mapsto)(?![a-z])", " -> "),
    (r"\\(?:leq?|leqslant)(?![a-z])", "<="),
    (r"\\(?:geq?|geqslant)(?![a-z])", ">="),
    (r"\\neq?(?![a-z])", "!="),
    (r"\\langle(?![a-z])", "<"),
    (r"\\[lr]?vert(?![a-z])|\\\|", "|"),
    (r"\\rangle(?![a-z])", ">"),
    (r"\\(?:theta|omega)\s*\(\s*1\s*\)", "o(1)"),
    (r"\\sum_\{\s*j\s*>\s*i\b[^{}]{0,20}\}", " sum future "),
    (r"\\sum(?:_\{[^{}]{0,30}\}|_\w)?(?:\^\{[^{}]{0,30}\}|\^\w)?", " sum "),
    (r"\\partial(?![a-z])", "d"),
    (r"\\[()\[\]]|\$+", " "),
    (r"\\([a-z]+)", r" \1"),
    (r"_\{\s*(\w+?)\s*\}", r"_\1"),
    (r"_\{\s*(\w)\s*,?\s*(\w)\s*\}", r"_\1\2"),
    (r"\^\{([^{}]{0,40})\}", r"^(\1)"),
    (r"\s*\*\*\s*", "^"),
    (r"(?<=[\w)])\s+\^\s*(?=[({\d-])", "^"),
]
_ATOMS: list[tuple[str, Change]] = [
    *DICTATED,
    *ENTRIES,
    (r"\bby\s+no\s+(?:means|stretch(?:\s+of\s+\w+\s+imagination)?)\b|\bin\s+no\s+(?:way|sense|case|respect|manner)\b", " not "),
    (r"\bunder\s+no\s+circumstances?\b|\bon\s+no\s+account\b|\banything\s+but\b", " not "),
    (r"([a-z]_(?:[a-z0-9]|[ijkmnrabc0-9]{2}))(?=[a-z]_)", r"\1 "),
    (r"\bdiag(?:flat|onal|_embed|embed)?\s*\(", "diag("),
    (r"\bconv\s*[({\\]", "convex hull ("),
    (r"\b(sigma|pi|alpha|rho)\s*\1\s*(?:\^t|\^\(t\)|')", " pp^t "),
    (r"\be\s+(?=[xyzt]_)", " expect "),
    (r"\bsigma(?:_\w+)?\s*\^\s*\(?2\)?", " variance "),
    (r"\bmu(?:_\w+)?(?=\s*(?:=|~))", " mean "),
    (r"(?<=[a-z0-9.)]) n (?!squared\b|by\b)(?=[a-z]{2}|k\b)", " and "),
    (r"\bqk\s*-?\s*(?:layer|rms)?-?norm\w*|\bquery[\s-]+key[\s-]+norm\w*", " qknorm "),
    (r"\boff-?diag(?:onals?)?\b", "off diagonal"),
    (r"\bsqrt\s*\(\s*v(?:ar\w*)?\b", " std ("),
    (r"\bv\s*\[", " variance ("),
    (r"\bex(?=\s*(?:=|\^2))", "expect x"),
    (r"<\s*(\(?[a-z][^<>,=]{0,24})\s*>", r" expect (\1) "),
    (r"\bv\s*\((?=\s*(?:q|k|x|sum|s\b|t_))", " variance ("),
    (r"\b(?:dot|inner|scalar)[\s-]products?\b", " q.k "),
    (r"\bd\s?l\s*/\s*d\s?[a-z](?:_\w+)?\b", " gradient "),
    (r"\b([ie])\.([ge])\.?,?(?=\W)", r" "),
    (r"\b(etc|vs|resp|approx|w\.r\.t|cf|fig|eq)\.", r"\1"),
    (r"\bw\.r\.t\b", "wrt"),
    (r"\bi\.\s?i\.\s?d\.?", "iid"),
    (r"\b(?:(?:is|are|was|were|be)\s+)?(?:unable\s+to|incapable\s+of|in\s+no\s+position\s+to)\b", " can not "),
    (r"\bsqrt(?=d_?k\b)", "sqrt "),
    (r"\bb/c\b", "because"),
    (r"\bfor\s+ever\b", "forever"),
    (r"\bw/o\b", "without "),
    (r"\bw/(?=\s|[a-z])", "with "),
    (r"\band/or\b", "or"),
    (r"float\(\s*['\"]?-\s*inf(?:inity)?['\"]?\s*\)|-\s*float\(\s*['\"]inf(?:inity)?['\"]\s*\)", " -inf "),
    (
        r"(?:torch|np|jnp)\.finfo\([^()]{0,40}\)\.min|(?:-|\bminus\b|\bnegative\b)\s*(?:1e\+?\d+\b|10\^\(?\d+\)?|(?:a|one)\s+billion\b|1\d{4,12}\b)",
        " -huge ",
    ),
    (r"-\s*(?:np|torch|math|numpy|jnp)\.inf\b", " -inf "),
    (r"\b([tn])\s*(?:\*|x|[\s-]by[\s-])\s*\1\b", r" \1^2 "),
    (r"(?:\bminus|\bnegative|\bneg\.?|-)[\s-]*(?:the\s+)?inf(?:init(?:y|ies|e)|s)?\b", " -inf "),
    (r"\b(?:d_?k|dim_?k|d_?head|head_?dim|d_?h|dim_?head|d_?qk|d\s+sub\s+k|d_key|dim_head|dhead)\b", "d_k"),
    (r"\bd_model/\s?n?_?h\w*", "d_k"),
    (r"\^\s*\(?\s*-\s*(?:1\s*/\s*4|0?\.25)(?:\s*\))?", "^-1/4"),
    (r"\s+to\s+the\s+(?:power\s+(?:of\s+)?)?(?:(?:one|a)[- ]half|1\s*/\s*2|0?\.5)\b", "^1/2"),
    (r"\^\s*\(?\s*-\s*(?:1\s*/\s*2|0?\.5)(?:\s*\))?", "^-1/2"),
    (r"\^\s*\(?\s*(?:1\s*/\s*2|0?\.5)\b(?:\s*\))?", "^1/2"),
    (r"\^\s*\(?\s*(?:1\s*/\s*4|0?\.25)\b(?:\s*\))?", "^1/4"),
    (r"1\s*/\s*\(?(\w+)\^1/4\)?", r"\1^-1/4"),
    (r"\^\s*\(?\s*-\s*1(?:\s*\))?(?![/\d])", "^-1"),
    (r"\^\s*(?:\(\s*2\s*\)|2)(?![\d.])", "^2"),
    (r"\^\s*\(\s*t\s*\)", "^t"),
    (rf"{_K}\^1/2", "sqrt(d_k)"),
    (r"\b([dnm])\^1/2", r" sqrt(\1) "),
    (rf"{_K}\^-1/2", "1/sqrt(d_k)"),
    (rf"{_K}\^-1\b(?!/)", "1/d_k"),
    (r"(?:np|math|torch|jnp)\.(?=[a-z])", ""),
    (rf"(?<!fourth )(?<!4th )\b(?:square\s+root|sqrt|root|rt)(?:\s+of)?(?:\s+the)?{_OPEN}{_K}{_CLOSE}", " sqrt(d_k) "),
    (r"\bsqrt\s*\(\s*([a-z0-9_.]+)\s*\)", r" sqrt(\1) "),
    (r"\bsqrt\s*(?:(?<=\s)of\s+)?(d|n|m|dim|64|128|256|512|1024)\b", r" sqrt(\1) "),
    (r"\b1\s*(?:/|over)\s*\(?\s*sqrt\(d_k\)", " 1/sqrt(d_k)"),
    (r"\b1\s*/\s*\(?\s*d_k\b|\bone\s+over\s+d_k\b", " 1/d_k"),
    (r"\bone\s+over\s+(?:the\s+)?sqrt\(d_k\)", " 1/sqrt(d_k)"),
    (r"(?<!1)/\s*sqrt\(d_k\)", " / sqrt(d_k) "),
    (r"<\s*q\s*,\s*k\s*>|\bdot\s*\(\s*q\s*,\s*k\s*\)|\bq\s*(?:\^t|\.t|')\s*\*?\s*k\b|\bq_?i?\s+dot\s+k_?j?\b", " q.k "),
    (
        r"\bq\s*[.@*]\s*k\b(?:\.t\b|\^t|\.transpose\([^()]{0,12}\)|\.mt\b)?|\bqk(?:\^t|\.t\b|')|\bqkt\b"
        r"|\bqk\b(?!\s*-?\s*(?:layer)?-?norm)",
        " q.k ",
    ),
    (rf"\bq_?\[?({_I})\]?\s*\*?\s*k_?\[?\1\]?(?![a-z_0-9])", r" q_i*k_i "),
    (rf"\bq_?({_I})k_?({_I})\b", " q_i*k_i "),
    (
        r"\b([psayw])\s*@\s*\1\s*(?:\.t\b|\^t)?|\b([psayw])\s*\*?\s*\2\s*(?:\^t|\^'|'|\.t\b)|\b([psayw])\s?\3\s?(?:t\b"
        r"|\^t|transposed?\b)|\b(?:outer|ger)\s*\(\s*([psayw]|probs?|sm|pi)\s*,\s*\4\s*\)|\b([psayw])\s+outer\s+\5\b",
        " pp^t ",
    ),
    (r"\bdiag\s*\(\s*(?:s|a|y|probs?|sm|pi)\s*\)", "diag(p)"),
    (r"\bp\s+p[\s-]+transposed?\b|\bp\s+times\s+p[\s-]+transposed?\b|\bp\s*\[:, ?none\]\s*[*@]\s*p\s*\[none(?:, ?:)?\]", " pp^t "),
    (
        r"\b(?:e|e_?[0-9a-z])\s*(?:e|e_?[0-9a-z])\s*(?:\^t|'|\.t\b|\s+transposed?\b)|\be_?\d\s?e_?\d\s?t\b"
        r"|\bouter\s*\(\s*(?:e|e_?\w)\s*,\s*(?:e|e_?\w)\s*\)",
        " ee^t ",
    ),
    (
        r"\b(?:kronecker\s+)?delta\s*_?\s*\(?\s*i\s*,?\s*j\s*\)?|\bkronecker(?:\s+delta)?\b|(?:\b1|\bi"
        r"|\bidentity)?\s*[\[{(]\s*i\s*==?\s*j\s*[\]})]|\bi_ij\b",
        " delta_ij ",
    ),
    (rf"\bp_?\[\s*({_I})\s*\]|\bp_?({_I})\b(?!\^)", lambda m: f" p_{m.group(1) or m.group(2)} "),
    (r"\bw[_^]?\(?q\)?\b|\bq_proj\b|\bwq\b", "w_q"),
    (r"\bw[_^]?\(?k\)?\b|\bk_proj\b|\bwk\b", "w_k"),
    (r"\b(?:o|theta)\s*\(\s*1\s*\)", " o(1) "),
    (r"\bo\s*\(\s*(?=[a-z0-9])(?!1\s*\))", " "),
    (r"\b(d_k|q_i|k_i|[qkxtn])[\s-]+squared\b", r"\1^2"),
    (r"\be\s*[\[({]", " expect ("),
    (r"(?<![a-z_])e\s*\^\s*|\bexp\s*\(", " exp ("),
    (r"\be\s+to\s+the\b(?:\s+power(?:\s+of)?)?", " exp "),
    (r"\bvar\s*[\[({]|\bvariance\s*[\[({]", " variance ("),
    (r"\bstd\s*[\[({]", " std ("),
    (r"==?>|--?>", " -> "),
    (r"(?<=[a-z]{2})-(?=[a-z])|(?<=\b[a-z])-(?=[a-z]{2})|(?<=\d)-(?=[a-z]{2})", " "),
    (r"(?<=[a-z])\+(?=[a-z])", " + "),
    (r"~=|=~", "~"),
]

_RULES: list[list[tuple[re.Pattern[str], Change]]] = []


def normalise(text: str) -> tuple[str, list[int]]:
    """The text in one spelling, and the original place of each of its characters."""
    chars, places = shortened(*_characters(text))
    if not _RULES:
        _RULES.extend([(re.compile(pattern), new) for pattern, new in rules] for rules in (_LATEX, _ATOMS))
    latex, atoms = _RULES
    for rule, new in latex:
        chars, places = substitute(rule, new, chars, places)
    letter = width_letter(chars)
    for rule, new in [(letter, " d_k"), *atoms] if letter else atoms:
        chars, places = substitute(rule, new, chars, places)
    return chars, places


def _characters(text: str) -> tuple[str, list[int]]:
    if text.isascii():
        return text.lower().replace("`", " "), list(range(len(text)))
    out: list[str] = []
    places: list[int] = []
    raised = lowered = False
    for place, char in enumerate(text):
        new, raised, lowered = _character(char, raised, lowered)
        out.append(new)
        places.extend([place] * len(new))
    return "".join(out), places


def _character(char: str, raised: bool, lowered: bool) -> tuple[str, bool, bool]:
    if char in _SUP:
        return _SUP[char] if raised else "^" + _SUP[char], True, False
    if char in _SUB:
        return _SUB[char] if lowered else "_" + _SUB[char], False, True
    if char in _CHARS:
        return _CHARS[char], False, False
    if ord(char) < 128:
        return char.lower(), False, False
    if unicodedata.category(char) in ("Cf", "Mn", "Cc", "Co", "Cs"):
        return "", raised, lowered
    plain = unicodedata.normalize("NFKD", char).lower()[:4]
    kept = "".join(_CHARS.get(c, _LOOKALIKE.get(c, c)) for c in plain if not unicodedata.combining(c))
    return kept, False, False
