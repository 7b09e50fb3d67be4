"""Formulas that are spoken: `p sub i, open bracket, delta i j minus p j, close bracket` becomes what a hand would have written."""

from __future__ import annotations

_INDEX = r"(?:[ijkmn]|\d{1,3}|[ijkmn]{2})"
_AFTER = (  # what follows an index; behind anything else `i` is who speaks: "q and k i think"
    r"(?=\s*(?:[^a-z\s']|$|[a-z]\b|(?:times|minus|plus|squared?|equals?|is|are|and|for|on|over|delta|in|at|off|where|when|if|so|because|which|each|both|product|bracket|open)\b))"
)
_LETTER = r"[ijkmnqst]"
_BRACKET = r"\s+(?:round\s+|square\s+|curly\s+)?(?:brackets?|paren(?:s|thes[ie]s)?|braces?)\b"
_POWER = r"\s+to\s+the\s+(?:power\s+(?:of\s+)?)?(?:minus|negative)\s+"

DICTATED: list[tuple[str, str]] = [
    (rf"\b(?:open(?:ing|s)?|left){_BRACKET}", " ( "),
    (rf"\b(?:clos(?:e|es|ed|ing)|right|end(?:\s+of)?(?:\s+the)?){_BRACKET}", " ) "),
    (r"\bdelta\s+(?:sub(?:script)?s?|of)\s+(?=[a-z]\s*,?\s*[a-z]\b)", " delta "),
    (rf"\b([a-z])\s+sub(?:script)?\s+({_INDEX})\b", r"\1_\2"),
    (rf"\b([pqky])\s+([ij])\b{_AFTER}", r"\1_\2"),
    (r"\bd\s+k\b", "d_k"),
    (r"\bq\s+transposed?\s+k\b", " q.k "),
    (r"\be\s+of\s+(?=[qkx](?:_|\b))|\bexpected\s+value\s+of\s+", " expect "),
    (r"\b(?:big|capital)\s+(?:o|theta)\s+of\s+|\btheta\s+of\s+(?=d_k|n\b|the\b|one\b)", " order "),
    (rf"\b({_LETTER})\s+(?:is\s+|being\s+)?(?:strictly\s+)?(?:greater|bigger|larger|higher)\s+than\s+({_LETTER})\b", r"\1 > \2"),
    (rf"\b({_LETTER})\s+(?:is\s+|being\s+)?(?:strictly\s+)?(?:less|smaller|lower)\s+than\s+({_LETTER})\b", r"\1 < \2"),
    (r"\b([ij])\s+equals\s+([ij])\b", r"\1 = \2"),
    (rf"{_POWER}(?:a|one)[\s-]+(?:quarter|fourth)\b", "^-1/4"),
    (rf"{_POWER}(?:a|one)[\s-]+half\b", "^-1/2"),
]
