"""One spelling: what people type, and the atoms that it becomes."""

from __future__ import annotations

import re

import pytest
from attngrade.quiz.marking.normalise import normalise
from attngrade.quiz.marking.tokens import read
from attngrade.quiz.marking.words import distance, stem

SAME = [
    ("d_k", ["dk", "d_k", "$d_k$", "dₖ", "d_{k}", "head_dim", "d_head", "$d_{k}$"]),
    ("sqrt(d_k)", ["√d_k", "sqrt(dk)", "\\sqrt{d_k}", "d_k^{1/2}", "dk**0.5", "square root of d_k", "d_k^0.5", "√dₖ", "√dk", "root d_k"]),
    ("1/sqrt(d_k)", ["1/√d_k", "1/sqrt(dk)", "dk**-0.5", "d_k^{-1/2}", "\\frac{1}{\\sqrt{d_k}}"]),
    ("d_k^-1/4", ["d_k^(-1/4)", "dk^-0.25", "d_k^{-1/4}", "dk**(-1/4)", "d_k^(−1/4)"]),
    ("-inf", ["-∞", "−∞", "-inf", "minus infinity", "negative infinity", "float('-inf')", "-np.inf", "-\\infty"]),
    ("-huge", ["-1e9", "−10⁹", "-10^9", "minus 1e9", "negative 1e9", "-10000", "torch.finfo(torch.float16).min"]),
    ("t^2", ["T^2", "T²", "T×T", "T x T", "T-by-T", "T*T", "$T\\times T$", "T squared"]),
    ("n^2", ["n^2", "N²", "n squared", "n x n"]),
    ("q.k", ["q·k", "q.k", "q^T k", "QK^T", "q @ k.T", "q\\cdot k", "<q, k>", "q dot k", "$q^\\top k$", "np.dot(q, k)"]),
    ("q_i*k_i", ["q_i k_i", "q_i*k_i", "$q_ik_i$", "q[i]*k[i]", "qᵢkᵢ"]),
    ("pp^t", ["p p^T", "pp^T", "pp'", "np.outer(p, p)", "p p^\\top", "ppᵀ", "p @ p.T", "$\\pi\\pi^{\\mathsf T}$"]),
    ("delta_ij", ["δ_ij", "\\delta_{ij}", "delta_ij", "[i==j]", "1[i=j]", "kronecker delta"]),
    ("sqrt(n)", ["√n", "n**0.5", "$n^{1/2}$"]),
    ("pp^t", ["ππᵀ", "s⊗s", "$\\pi\\pi^\\top$"]),
    ("w_q", ["W_Q", "Wq", "$W_Q$", "W^Q"]),
    ("o(1)", ["O(1)", "$O(1)$", "Θ(1)"]),
]


@pytest.mark.parametrize(("atom", "typed"), [(atom, typed) for atom, spellings in SAME for typed in spellings])
def test_every_spelling_becomes_the_same_atom(atom: str, typed: str) -> None:
    assert [token.word for token in read(typed).content] == [atom]


ENTRIES = [
    "p_i * (delta_ij - p_j)", "s_a*(1[a=b] - s_b)", "π_m(δ_mn − π_n)", "y_u times (delta_uv minus y_v)", "s_m (1{m=n} − s_n)",
    "$\\pi_a\\left(\\mathbf{1}[a=b]-\\pi_b\\right)$", "$p_a\\!\\left(\\delta_{ab}-p_b\\right)$", "a[i]*([i==j] - a[j])",
]  # fmt: skip


@pytest.mark.parametrize("typed", ENTRIES)
def test_an_entry_of_the_jacobian_may_have_any_letters(typed: str) -> None:
    assert [token.word for token in read(typed).content] == ["p_i", "*", "delta_ij", "-", "p_j"]


@pytest.mark.parametrize("named", ["m being the head width", "with m the width of a head", "$m$ = head width", "in the head width m", "m for d_k"])
def test_a_letter_that_is_said_to_be_the_width_is_the_width(named: str) -> None:
    assert [token.word for token in read(f"{named}: √m").content][-1] == "sqrt(d_k)"


def test_a_letter_that_is_not_said_to_be_the_width_stays() -> None:
    assert [token.word for token in read("I'm sure of m and n't").content] == ["i", "be", "sure", "of", "m", "and", "not"]


def test_a_fourth_root_is_no_square_root() -> None:
    assert "sqrt(d_k)" not in [token.word for token in read("the fourth root of d_k").content]


def test_the_jacobian_has_one_spelling() -> None:
    spellings = ["diag(p) - p p^T", "$\\text{diag}(p) - pp^\\top$", "diag(p) − ppᵀ", "np.diag(p) - np.outer(p, p)"]

    assert len({tuple(token.word for token in read(each).content) for each in spellings}) == 1


@pytest.mark.parametrize("text", ["Var(q·k) = √d_k", "x → ∞, $\\sqrt{d_k}$", "ﬁne ½ ＡＢ", "d\u200b_k", "a\u0301bc"])
def test_each_character_knows_its_place_in_the_original(text: str) -> None:
    plain, places = normalise(text)

    assert len(plain) == len(places)
    assert all(0 <= place < len(text) for place in places)


def test_spans_point_at_the_person_s_own_words() -> None:
    text = "The std is √d_k, roughly."
    token = next(token for token in read(text).content if token.word == "sqrt(d_k)")

    assert text[token.start : token.end].strip().startswith("√")


@pytest.mark.parametrize("typed", ["delta" + " " * 6000, "n" + "\n \t" * 2000 + "x", "q" + "\\quad" * 1000, "i.e." * 1500, "a" + "\u200b " * 3000 + "b", "^" + "`" * 6000])
def test_no_rule_meets_a_long_run_of_blanks(typed: str) -> None:
    plain, places = normalise(typed)

    assert not re.search(r"\s{49}", plain) and len(plain) == len(places) and places == sorted(places)


def test_where_a_long_run_of_blanks_is_shortened_lines_sentences_and_places_stay() -> None:
    blanks = " " * 60
    text = f"the std is √d_k{blanks}\n{blanks}\n{blanks}it grows.{blanks}\n\n{blanks}- not the mean"
    wide, narrow = read(text), read(text.replace(blanks, "   "))

    assert [(t.word, t.sentence, t.clause) for t in wide.tokens] == [(t.word, t.sentence, t.clause) for t in narrow.tokens]
    assert [text[t.start : t.end] for t in wide.tokens if t.word in ("grow", "grows")] == ["grows"]


@pytest.mark.parametrize(
    ("forms", "one"),
    [(("adds", "added", "adding", "add"), "add"), (("variances", "variance", "vars"), "varianc"), (("grew", "grows", "growing"), "grow"),
     (("isn", "are", "was"), None), (("masked", "masking", "masks"), "mask"), (("zero", "zeros", "0"), "0")],
)  # fmt: skip
def test_forms_of_a_word_share_a_stem(forms: tuple[str, ...], one: str | None) -> None:
    stems = {stem(each) for each in forms}

    assert one is None or stems == {one}


@pytest.mark.parametrize(
    ("typed", "words"),
    [("don't", ["do", "not"]), ("wouldn't", ["would", "not"]), ("dont", ["do", "not"]), ("cant", ["can", "not"]), ("it's", ["it", "be"])],
)
def test_contractions_are_spelt_out(typed: str, words: list[str]) -> None:
    assert [token.word for token in read(typed).tokens] == words


def test_british_and_american_spelling_agree() -> None:
    assert [t.word for t in read("normalise initialisation").content] == [t.word for t in read("normalize initialization").content]


def test_swapped_letters_are_one_edit() -> None:
    assert (distance("gradeint", "gradient", 2), distance("softmxa", "softmax", 2), distance("cat", "variance", 2)) == (1, 1, 3)
