"""``make readers``: learn the marker's second reader from the labelled answers, into questions/learned/. Needs scikit-learn (``pip install -e '.[readers]'``).

What came of it on answers that aren't in the bank: ``attngrade questions --evaluate --answers FILE``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from attngrade.quiz.mark import rubric_of
from attngrade.quiz.marking.second import SCALE, features, lesson
from attngrade.quiz.marking.shams import mute_lists
from attngrade.quiz.marking.tokens import Token, read
from attngrade.quiz.marking.withdrawal import mute
from attngrade.quiz.question import Bank, Question, load_bank

ENOUGH = 150  # labelled answers
TWICE = 2  # answers that have a feature before it is learned
FAINT = 20  # thousandths: a weight that no likelihood shows
STRENGTH = 4.0  # inverse of the regularisation


def heard(question: Question, answer: str) -> list[Token]:
    """What the marker reads of an answer."""
    text = read(answer, rubric_of(question).lexicon.mend)
    mute(text)
    mute_lists(text)
    return text.content


def examples(bank: Bank, question: Question) -> list[tuple[set[str], set[str]]]:
    """Features and points of every labelled answer, of the model answer, of each claim, and of the prompt, which earns nothing."""
    everything = [point.id for point in question.points]
    told = [(each.answer, list(each.earned)) for each in bank.labelled(question.id)]
    told += [(question.answer, everything), *((ask, []) for ask in (question.prompt, *question.asks))]
    told += [(claim, [point.id]) for point in question.points for claim in (point.claim, *point.says)]
    return [({name for name, _ in features(heard(question, answer))}, set(earned)) for answer, earned in told]


def learned(bank: Bank, question: Question) -> dict[str, Any]:
    """Biases and weights of every point, in whole thousandths."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    lessons = examples(bank, question)
    table = DictVectorizer()
    matrix = table.fit_transform([dict.fromkeys(sorted(names), 1.0) for names, _ in lessons])
    common = (matrix > 0).sum(axis=0).A1 >= TWICE
    fitted = [LogisticRegression(C=STRENGTH, max_iter=5000).fit(matrix[:, common], [point.id in earned for _, earned in lessons]) for point in question.points]
    names = [name for name, kept in zip(table.feature_names_, common, strict=True) if kept]
    rows = {name: [round(float(fit.coef_[0, at]) * SCALE) for fit in fitted] for at, name in enumerate(names)}
    return {
        "question": question.id, "learned_from": lesson(*sources(bank, question.id)), "points": [point.id for point in question.points],
        "bias": [round(float(fit.intercept_[0]) * SCALE) for fit in fitted],
        "weights": {name: row for name, row in sorted(rows.items()) if max(map(abs, row)) >= FAINT},
    }


def sources(bank: Bank, name: str) -> tuple[Path, Path]:
    """The files that a reader is learned from."""
    return bank.folder / f"{name}.yaml", bank.folder / "labelled" / f"{name}.yaml"


def write(bank: Bank) -> None:
    """A file for each open question that has enough labelled answers."""
    for question in bank.questions:
        if question.kind == "open" and len(bank.labelled(question.id)) >= ENOUGH:
            path = bank.folder / "learned" / f"{question.id}.json"
            path.parent.mkdir(exist_ok=True)
            rows = learned(bank, question)
            path.write_text(json.dumps(rows, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
            print(f"{path.name}: {len(rows['weights'])} features, {path.stat().st_size >> 10} KiB")


def main() -> None:
    """Learn and write."""
    argparse.ArgumentParser(prog="train_readers", description=__doc__.partition("\n")[0]).parse_args()
    write(load_bank())


if __name__ == "__main__":
    main()
