"""What a failed check shows belongs together."""

from __future__ import annotations

import re
from pathlib import Path

from attngrade.render.terminal import as_text

CORPUS = Path(__file__).parent.parent / "corpus" / "variance" / "wrong"


def test_the_input_shown_is_the_one_of_the_case_that_failed(graded):
    text = as_text([graded("1", (CORPUS / "correlation_ignored.py").read_text())], colour=False, width=80)

    correlation = re.search(r"asked +d_k=10\*\*8, correlation=(\S+)", text)
    assert correlation, text
    assert re.search(rf"input +unit_rms_scale\(100000000, {re.escape(correlation.group(1))}\)", text), text


def test_no_sentence_is_said_twice(graded):
    text = " ".join(as_text([graded("1", (CORPUS / "correlation_ignored.py").read_text())], colour=False, width=80).split())

    assert text.count("it must settle at") + text.count("for wide heads it must") <= 2
