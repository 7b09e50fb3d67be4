"""Words that make sentences of terms, and where clauses end."""

from __future__ import annotations

from .tokens import Token

_FINITE = """
is are be was were has had do does did can will would get gets go goes make makes keeps gives becomes adds sums grows prevents stops divides
multiplies pushes drives saturates vanishes cancels stays freezes moves steps learns breaks scales carries limits applies puts sets normalizes
leaves counts uses means say need needs want turns mixes averages loses returns equals comes drops kills flows reaches passes
changes shrinks explodes blows fails holds depends know see let shows finds looks points aligns dies gets takes took because since so if when while
that which than it they you we this there don collapses tells lets reduces forces behaves lies sees assume compute share grow keep add lose
become cancel saturate vanish align diverge explode depend carry give get make shares wants kill agree think
"""
_OTHER = """
the a an to of in on at by for from with as its these those them and or but then have only all each every into out up what how why where who
per before after over via without during until through gets got always just
"""
VERBS = frozenset(_FINITE.split())
GRAMMAR = VERBS | frozenset(_OTHER.split())


def clause_end(tokens: list[Token], at: int) -> int:
    """Where the clause of token `at` ends; an adverb behind a comma still belongs to it."""
    end = at + 1
    while end < len(tokens) and tokens[end].clause == tokens[at].clause:
        end += 1
    after = end
    while after < len(tokens) and tokens[after].clause == tokens[min(end, len(tokens) - 1)].clause:
        after += 1
    adverb = end < len(tokens) and after - end == 1 and tokens[end].sentence == tokens[at].sentence and tokens[end].word.endswith("ly")
    return after if adverb else end  # "aren't changed more, relatively"


def sentence_end(tokens: list[Token], at: int) -> int:
    """Where the sentence of token `at` ends."""
    end = at + 1
    while end < len(tokens) and tokens[end].sentence == tokens[at].sentence:
        end += 1
    return end
