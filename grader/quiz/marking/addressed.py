"""Text that speaks to whoever marks it: instructions, claimed authority, points called by their ids."""

from __future__ import annotations

import re

_READER = r"(?:grader|marker|examiner|evaluator|judge|assistant|reviewer|llm|ai\b|model:)"
_ALL_RIGHT = r"(?:earned|correct|met|right|passed|complete|perfect|valid)\b"
_THIS_QUIZ = r"\b(?:quiz|question|test|exam|rubric|course|exercise|kit|question\s+set|question\s+bank|assignment|assessment)s?"
_OWNER = r"(?:author|creator|instructor|teacher|professor|lecturer|examiner|setter|writer|maintainer|owner)"
_GRANTED = r"(?:met|fulfilled|present|satisfied|said|granted|right|correct|covered|earned|passed|answered|stated|mentioned)\b"
_TO_MARKER = re.compile(
    "|".join(
        [
            r"\b(?:ignor|disregard|forget|overrid|bypass|skip)\w*\s+(?:\w+\s+){0,4}"
            r"(?:instructions?|rubric|prompt|guidelines?|criteria|the above|everything above)\b",
            r"\b(?:ignor|disregard|forget|overrid|bypass)\w*\s+(?:all|your|any|previous)\s+(?:\w+\s+)?rules",
            r"\b(?:full|maximum|max|all|perfect|complete|top|100%)\s+(?:the\s+)?(?:marks|credits?)\b|\b(?:full|maximum|max)\s+points\b",
            r"\b(?:award|give|grant|assign)\w*\s+(?:\w+\s+){0,3}(?:marks|credits?)\b",
            r"\b(?:award|give|grant|assign|deserve|output)\w*\s+(?:me\s+|it\s+|this\s+\w+\s+)?(?:full|all|max\w*|every)\s+(?:the\s+|possible\s+)?points?\b",
            r"\b(?:award|give|grant|assign|output|return|set|report)\w*\s+(?:\w+\s+){0,2}(?:full|max\w*|perfect|top|highest)\s+score",
            rf"\b(?:note|message|attention|instructions?|dear|hey|hi|hello|to)[\s,:]+(?:to\s+)?(?:the\s+|all\s+)?{_READER}",
            r"^\s*(?:system|assistant|user|developer|grader|marker|admin)\s*(?:prompt|message|note|override|update)?\s*[:>\]]",
            r"<\s*/?\s*(?:system|instructions?|rubric|grader|answer)\b|\[\s*/?\s*(?:inst|system)\s*\]|<\|",
            r"\bsudo\b|\bmark\s+-{0,2}all\b|--all\b|\bgrade\s*[:=]\s*(?:a\b|100|full)|\bauto-?grader\b",
            rf"\bmark(?:ed|s)?\s+(?:\w+\s+){{0,3}}(?:as\s+)?(?:fully\s+)?{_ALL_RIGHT}",
            r"\banswer\s+(?:\w+\s+){0,2}(?:earns|deserves|satisfies|should\s+be\s+(?:marked|graded))",
            r"\"?(?:earned|met)\"?\s*[:=]\s*(?:true|1\b|\"|\[)|\"score\"\s*:|\b(?:score|points?|marks?)\s*[:=]\s*(?:max|true|full)",
            r"\byou\s+are\s+(?:now\s+)?(?:a|an|the)\s+(?:\w+\s+){0,3}(?:grader|marker|assistant|ai|examiner|evaluator)\b",
            r"\bas\s+(?:a|an|the)\s+(?:\w+\s+){0,2}(?:grader|marker|language model|examiner)\b",
            r"\b(?:points?|criteria|rubric)\s+(?:\w+\s+){0,3}(?:satisfied|met|earned|fulfilled|covered)\b",
            r"\b(?:grader|marker|rubric|evaluator)\b[^.\n]{0,40}"
            r"\b(?:accept|earned|correct|pass|full|must|should|please|has (?:been|already)|approved|verified)",
            r"\brubric\s+override\b|\boverride\s+(?:the\s+)?rubric\b|\badmin\s+note\b|<!--|\bexempt(?:ed)?\s+from\s+(?:this|the)\b",
            r"\b(?:all|every|each)\s+(?:\w+\s+){0,2}points?\b[^.\n]{0,40}\b(?:awarded|passed|granted|earned|met)\b",
            r"\b(?:award|grant|record|print|report)\b[^.\n]{0,80}\b(?:automatically|100\s*%|as\s+passed)",
            rf"\b(?:treat|consider|count|regard|grade|accept|score)\s+(?:this|the|my|it|every|all|each)\b(?:\s+\w+){{0,5}}\s+as\s+(?:\w+\s+)?{_ALL_RIGHT}",
            rf"{_THIS_QUIZ}(?:'s|s'|s)?\s+{_OWNER}\b|\b{_OWNER}s?\s+of\s+(?:this|these|the)\s+{_THIS_QUIZ}|\b(?:teaching|course|exam)\s+(?:staff|team|assistant)\b",
            r"\b(?:approved|vetted|certified|signed\s+off)\s+by\b|\bkindly\s+\w+|\bfrom\s+(?:the\s+|your\s+)?(?:instructor|examiner|professor|lecturer|grader|marker)\b|\b(?:grading|marking|scoring)\s+(?:note|hint|instruction)s?\b|\baward\s+(?:this|these)\b|\bby\s+(?:the\s+|an?\s+)?(?:examiner|grader|marker|instructor|professor|reviewer)\b|\bauto(?:matic|mated)\s+(?:check|checker|grading|marking|grader|marker|evaluation)\b|\bresult\s*[:=]\s*pass|\brubric\b|\b(?:marking|grading)\s+scheme\b|\bbefore\s+you\s+(?:evaluate|grade|mark|score)\b|\b(?:four|three|two|all|[2345])\s+out\s+of\s+(?:four|three|two|all|[2345])\b",
            rf"\bi\s+(?:\w+\s+)?(?:wrote|set|made|designed|authored|created|compiled)\s+(?:this|these|the)\s+(?:\w+\s+)?{_THIS_QUIZ}",
            r"\b(?:official|reference|model|master|gold|sample|certified)\s+(?:solution|answer)s?\b(?!\s+(?:is|says|would))|\b(?:solution|answer)\s+key\b",
            rf"\b(?:count|counts|counted|take|taken|treat|treated|considered?|regard|regarded|record|recorded|accept|accepted|credit|credited|"
            rf"log|logged)\b[^.;\n]{{0,60}}?\bas\s+(?:\w+\s+)?{_GRANTED}",
            rf"\b(?:should|must|shall|can|may|is|are|to)\s+(?:all\s+)?be\s+(?:considered|deemed|taken|counted|regarded|assumed|held|judged)\s+{_GRANTED}",
            r"\b(?:tick|check)\s+(?:off\s+)?(?:all|every|each)\s+(?:\w+\s+)?(?:box|point)(?:es|s)?\b|\bfor\s+(?:whoever|whomever|who(?:m)?ever|the\s+person\s+who)"
            r"\s+(?:corrects|marks|grades|reads|evaluates|scores|checks|is\s+\w+ing)\b",
            r"\b(?:this|the|my)\s+(?:submission|answer|response|text|solution)\s+(?:was|is|has\s+been|have\s+been|got)\s+(?:already\s+|fully\s+)?"
            r"(?:pre-?)?(?:approved|verified|checked|validated|graded|certified|reviewed|vetted|accepted|correct|complete)\b",
            r"\b(?:no|without(?:\s+any)?)\s+(?:further\s+check(?:s|ing)?|(?:further|additional|more)\s+(?:review|verification|assessment|inspection|marking|grading))\b",
            r"\bi\s+(?:hereby|certify|attest)\b|\bi\s+(?:confirm|declare|assure\s+you)\s+that\s+(?:this|the|all|every|each)\b|\bplease\s+(?:count|credit|tick|accept|award|grade|mark|score|pass)\b",
        ]
    ),
    re.MULTILINE,
)


def addressed_to_marker(text: str, points: tuple[str, ...] = ()) -> bool:
    """Whether the answer instructs whoever marks it, or calls the points by their ids, which nobody knows who only answers."""
    named = sum(bool(re.search(rf"(?<![\w-]){re.escape(point)}(?![\w-])", text)) for point in points if "-" in point)
    return named >= 2 or bool(_TO_MARKER.search(text))
