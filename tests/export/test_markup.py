"""Texts become HTML that shows the same thing, and nothing in them becomes markup by accident."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from attngrade.export.markup import clean, html, inline, items, mathjax
from attngrade.export.tex import mathml
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("d_k and W_Q^T", "d<sub>k</sub> and W<sub>Q</sub><sup>T</sup>"),
        ("p_i (δ_ij − p_j)", "p<sub>i</sub> (δ<sub>ij</sub> − p<sub>j</sub>)"),
        ("d_k^(-1/4), 10^6, ‖q‖^2, x_{ij}^2", "d<sub>k</sub><sup>-1/4</sup>, 10<sup>6</sup>, ‖q‖<sup>2</sup>, x<sub>ij</sub><sup>2</sup>"),
        ("log_2(e) and mu_q", "log<sub>2</sub>(e) and mu<sub>q</sub>"),
        ("is_causal and scaled_dot_product_attention", "is_causal and scaled_dot_product_attention"),
        ("torch.nn.functional", "torch.nn.functional"),
        ("a < b & c", "a &lt; b &amp; c"),
        ("`a_i < b`", "<code>a_i &lt; b</code>"),
        ("zeroed *and* renormalised, 2 * 3 * 4", "zeroed <em>and</em> renormalised, 2 * 3 * 4"),
        ("costs $5 and $6", "costs $5 and $6"),
    ],
)
def test_inline(text: str, expected: str) -> None:
    assert inline(text) == expected


def test_formulas_go_to_mathjax_untouched_but_escaped() -> None:
    assert inline("so $a_i < \\sqrt{b}$", mathjax) == "so \\(a_i &lt; \\sqrt{b}\\)"


def test_paragraphs_lists_and_code_are_told_apart() -> None:
    assert html("one\nline\n\n- a\n- b\n  more\n\n    x = 1\n      y") == "<p>one line</p>\n<ul><li>a</li><li>b more</li></ul>\n<pre>x = 1\n  y</pre>"
    assert items([]) == ""


@pytest.mark.parametrize(
    ("formula", "holds"),
    [
        ("\\frac{1}{\\sqrt{d_k}}", "<mfrac><mrow><mrow><mn>1</mn></mrow></mrow><mrow><mrow><msqrt>"),
        ("x_i^2", "<msubsup><mi>x</mi><mrow><mi>i</mi></mrow><mrow><mn>2</mn></mrow></msubsup>"),
        ("p p^\\top", "<mo>⊤</mo>"),
        ("\\text{if } x \\le 0.5", "<mtext>if </mtext>"),
        ("\\mathrm{softmax}(z)", "<mtext>softmax</mtext>"),
        ("\\left. x \\right|", "<mo>|</mo>"),
        ("a < b", "<mo>&lt;</mo>"),
        ("\\unheardof{x}", "<mtext>\\unheardof</mtext>"),
        ("x - 1", "<mo>−</mo>"),
    ],
)
def test_tex_becomes_mathml(formula: str, holds: str) -> None:
    drawn = mathml(formula)

    ET.fromstring(drawn)
    assert holds in drawn


@pytest.mark.parametrize("formula", ["{" * 5000, "x^" * 3000, "}}}{", "^", "_", "\\", "\\frac", "\\sqrt{", "x__y", "\\text{a", "^^^"])
def test_broken_or_hostile_tex_is_still_well_formed(formula: str) -> None:
    ET.fromstring(mathml(formula))


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_gives_well_formed_html(text: str) -> None:
    ET.fromstring(f"<div>{html(text)}</div>".replace("<br>", "<br/>"))


def test_characters_that_xml_cant_hold_are_replaced() -> None:
    assert clean("a\x00b\ud800c\tд") == "a�b�c\tд"
