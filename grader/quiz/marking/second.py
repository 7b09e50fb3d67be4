"""A second reader beside the rubric: how likely a careful human gives a point to an answer, told by the answer's words and word pairs.

For each point a logistic regression over words, neighbours and words one apart (within a sentence), learned from the labelled answers of its question by
``make readers`` (scripts/train_readers.py) and kept in the bank's folder ``learned/``. Reading needs no library and no chance: the same answer always
gets the same likelihoods. What is withdrawn, hedged or reported is not read.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .tokens import Token

SCALE = 1000  # weights are kept as whole thousandths
CLEARLY, EVEN = 0.9, 0.5  # from where on a point is given that no pattern met; from where on a sentence by itself keeps one that a pattern met
HARDLY = (0.5, 0.3, 0.2)  # below which none is given that one pattern met, that two met, that more met: the more agree, the more it takes to doubt them


@dataclass(frozen=True)
class Reader:
    """What was learned for one question: for each point a bias, and for each feature a weight for every point."""

    points: tuple[str, ...]
    bias: tuple[int, ...]
    weights: dict[str, list[int]]

    def likelihoods(self, content: Sequence[Token]) -> dict[str, float]:
        """Point to likelihood, 0 to 1."""
        sums = list(self.bias)
        for name in {name for name, _ in features(content)}:
            for place, weight in enumerate(self.weights.get(name, ())):
                sums[place] += weight
        return {point: 1 / (1 + math.exp(-max(-30.0, min(30.0, total / SCALE)))) for point, total in zip(self.points, sums, strict=True)}

    def at_best(self, content: Sequence[Token], point: str) -> float:
        """The likelihood by the sentence alone that makes it likeliest: a right sentence beside wrong ones."""
        sentences: dict[int, list[Token]] = {}
        for token in content:
            sentences.setdefault(token.sentence, []).append(token)
        return max((self.likelihoods(tokens)[point] for tokens in sentences.values()), default=0.0)

    def evidence(self, content: Sequence[Token], point: str) -> tuple[int, int] | None:
        """The tokens, first and behind the last, of the sentence that speaks most for a point; None where no sentence does."""
        place, speaks, seen = self.points.index(point), dict[int, int](), set[str]()
        for name, at in features(content):
            if name not in seen and name in self.weights:
                seen.add(name)
                speaks[content[at].sentence] = speaks.get(content[at].sentence, 0) + self.weights[name][place]
        sentence = max(speaks, key=lambda each: speaks[each], default=None)
        if sentence is None or speaks[sentence] <= 0:
            return None
        places = [at for at, token in enumerate(content) if token.sentence == sentence and not token.muted]
        return places[0], places[-1] + 1


def features(content: Sequence[Token]) -> Iterator[tuple[str, int]]:
    """The features of an answer, each with the place of its last word."""
    heard = [at for at, token in enumerate(content) if not token.muted]
    for n, at in enumerate(heard):
        word = content[at].word
        yield word, at
        if n and content[heard[n - 1]].sentence == content[at].sentence:
            yield f"{content[heard[n - 1]].word} {word}", at
        if n > 1 and content[heard[n - 2]].sentence == content[at].sentence:
            yield f"{content[heard[n - 2]].word} _ {word}", at


def reader_at(path: Path) -> Reader | None:
    """The reader that was learned into a file, or None where there is none."""
    if not path.is_file():
        return None
    told = json.loads(path.read_text(encoding="utf-8"))
    return Reader(tuple(told["points"]), tuple(told["bias"]), told["weights"])


def lesson(*files: Path) -> str:
    """A digest of what a reader was learned from, kept beside it: another one means that it has to learn again."""
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:16]
