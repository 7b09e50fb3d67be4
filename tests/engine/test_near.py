"""Where no wrong idea explains everything: the one that explains most is named as such, and what passed is no evidence against anybody."""

from __future__ import annotations

import tracemalloc

import pytest
from attngrade.catalog import builtin
from attngrade.diagnosis import leaning
from attngrade.diagnosis.explain import MOSTLY, ONE_OF_TWO


def with_function(exercise: str, function: str) -> str:
    """The solution with another definition of one function behind it."""
    return builtin().find(exercise).solution.read_text(encoding="utf-8") + "\n\n" + function


LENGTH = '''
def rms_norm(x, gain, eps=1e-6):
    if gain.dim() != 1 or x.dim() < 1 or x.shape[-1] != gain.shape[0]:
        raise ValueError(f"gain must be (Dh,), got {tuple(gain.shape)} for x {tuple(x.shape)}")
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    return (wide / torch.sqrt((wide * wide).sum(-1, keepdim=True) + 7 * eps) * gain.to(wide.dtype)).to(x.dtype)
'''


def test_a_wrong_idea_beside_another_rounding_is_named_as_what_explains_most(graded):
    verdict = graded("exercise05", with_function("exercise05", LENGTH))

    assert [named.id for named in verdict.misconceptions] == ["length-instead-of-root-mean-square"]
    assert verdict.misconceptions[0].message.startswith(MOSTLY)


def test_a_wrong_idea_that_explains_everything_is_named_without_reserve(graded):
    verdict = graded("exercise05", with_function("exercise05", LENGTH.replace("7 * eps", "eps")))

    assert verdict.misconceptions[0].id.startswith("length-")
    assert not verdict.misconceptions[0].message.startswith(MOSTLY)


LOST_AXIS = '''
def softmax_vjp(z, grad):
    p, grad = softmax(widen(z)), widen(grad)
    if p.shape != grad.shape:
        raise ValueError(f"grad must have z's shape, got {grad.shape} and {p.shape}")
    return narrow(p * (grad - (p * grad).sum(axis=-1)), z)


plain_norm = jacobian_norm


def jacobian_norm(z):
    return np.asarray(plain_norm(z))
'''


def test_an_array_without_axes_that_a_check_takes_for_a_number_is_no_mistake(graded):
    verdict = graded("exercise02", with_function("exercise02", LOST_AXIS))

    assert [named.function for named in verdict.misconceptions] == ["softmax_vjp"]


@pytest.mark.parametrize("noise", ["x * 0.3", "torch.sin(7 * x)"])
def test_what_no_wrong_idea_explains_is_not_named(graded, noise):
    verdict = graded("exercise05", with_function("exercise05", LENGTH.replace("wide * wide", f"({noise}).to(wide.dtype) ** 2 + 1")))

    assert not verdict.misconceptions


TWO_AT_ONCE = '''
plain_moments = score_moments


def score_moments(d_k, mean_q=0.0, var_q=1.0, mean_k=0.0, var_k=1.0):
    mean, variance = plain_moments(d_k, mean_q, var_q, mean_k, abs(var_k))
    return mean, variance * d_k
'''


def test_two_wrong_ideas_in_one_function_that_explain_everything_between_them_are_both_named(graded):
    verdict = graded("exercise01", with_function("exercise01", TWO_AT_ONCE))

    assert {named.id for named in verdict.misconceptions} == {"moments-d-k-squared", "moments-one-variance-unchecked"}
    assert all(named.message.startswith(ONE_OF_TWO) for named in verdict.misconceptions)


ZEROES = '''
def masked_softmax(scores, mask):
    wide = scores.to(torch.promote_types(scores.dtype, torch.float32))
    s = wide.masked_fill(~mask.expand(scores.shape), -30.0)
    p = torch.exp(s - s.amax(-1, keepdim=True)).masked_fill(~mask.expand(scores.shape), 0.0)
    return (p / p.sum(-1, keepdim=True).clamp_min(1e-300 if p.dtype == torch.float64 else 1e-38)).to(scores.dtype)
'''


def test_rows_that_come_out_all_zero_are_no_evidence_of_one_wrong_idea_more_than_of_another(graded):
    verdict = graded("exercise03", with_function("exercise03", ZEROES))

    assert "no-maximum-subtracted" not in {named.id for named in verdict.misconceptions}


LOST_SUM_AXIS = '''
def softmax(z, axis=-1):
    weights = np.exp(widen(z) - widen(z).max(axis=axis, keepdims=True))
    return narrow(weights / weights.sum(axis=axis), z)


def jacobian_norm(z):
    p = softmax(widen(z))
    s2, s3 = (p**2).sum(axis=-1), (p**3).sum(axis=-1)
    return narrow(np.sqrt(s2 - 2 * s3 + s2**2), z)
'''
MASKS_THAT_ENLARGE = '''
def fitting(scores, mask):
    if mask.dtype != torch.bool:
        raise ValueError("mask must be boolean")
    try:
        torch.broadcast_shapes(scores.shape, mask.shape)
    except RuntimeError:
        raise ValueError("mask doesn't fit scores") from None


def mask_scores(scores, mask):
    fitting(scores, mask)
    return scores.masked_fill(~mask, -torch.inf)


def masked_softmax(scores, mask):
    fitting(scores, mask)
    wide = scores.to(torch.promote_types(scores.dtype, torch.float32)).masked_fill(~mask, -torch.inf)
    seen = mask.expand(scores.shape).any(-1, keepdim=True)
    return torch.softmax(torch.where(seen, wide, torch.zeros_like(wide)), -1).masked_fill(~mask, 0.0).to(scores.dtype)
'''


@pytest.mark.parametrize(("exercise", "code", "function"), [("exercise02", LOST_SUM_AXIS, "softmax"), ("exercise03", MASKS_THAT_ENLARGE, "mask_scores")])
def test_what_breaks_inside_a_function_that_was_named_gets_no_name_of_its_own(graded, exercise, code, function):
    verdict = graded(exercise, with_function(exercise, code))

    assert {named.function for named in verdict.misconceptions} == {function}


UNSHIFTED = '''
def softmax(z, axis=-1):
    weights = np.exp(widen(z))
    return narrow(weights / weights.sum(axis=axis, keepdims=True), z)


def jacobian_norm(z):
    p = softmax(widen(z))
    s2, s3 = (p**2).sum(axis=-1), (p**3).sum(axis=-1)
    return narrow(np.sqrt(s2 - 2 * s3 + s2**2), z)
'''


def test_a_function_that_calls_the_named_one_where_the_reference_does_not_gets_no_name(graded):
    verdict = graded("exercise02", with_function("exercise02", UNSHIFTED))

    assert {named.function for named in verdict.misconceptions} == {"softmax"}


def test_what_leans_on_what_is_read_from_the_text():
    own = "def a(): pass\ndef b(): return helper()\ndef helper(): return a()\nclass C:\n    def f(self): return b()\ndef d(): return a"

    assert leaning(own, "def a(): pass\ndef b(): pass\nclass C: pass\ndef d(): return a()") == {("b", "a"), ("C", "b"), ("C", "a")}
    assert leaning("def a(:", own) == leaning(b"\xff", own) == frozenset()


def test_a_long_chain_of_functions_is_read_without_a_table_of_all_pairs():
    chain = "def f0(): pass\n" + "".join(f"def f{n}(): return f{n - 1}()\n" for n in range(1, 3000))
    tracemalloc.start()
    leans = leaning(chain, "def f0(): pass\ndef f2999(): pass\n")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert leans == {("f2999", "f0")} and peak < 100 << 20
