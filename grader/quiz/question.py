"""The bank: questions as frozen records, read from one YAML file each.

    bank = load_bank()                 # the built-in questions; load_bank(folder) for a pack's own
    bank.ids                           # every id, without reading a file's contents
    bank.get("score-variance")         # reads that one file
    bank.questions                     # all of them, in the bank's order
    bank.problems()                    # what the linter has to say, [] when nothing

Kinds: `open` (points, marked by the rubric), `slots` (expressions and numbers), `numeric` (one number),
`choice`, `multi_choice`, `order` (options). Whatever the kind, `question.points` are what can be earned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

KINDS = ("open", "slots", "numeric", "choice", "multi_choice", "order")


class BankError(Exception):
    """A question file can't be used; `problems` holds one line for each reason."""

    def __init__(self, problems: list[str]):
        super().__init__("\n".join(problems))
        self.problems = problems


class UnknownQuestion(LookupError):
    """There is no question of that name; the message offers the nearest ones."""


@dataclass(frozen=True)
class Reject:
    """A claim that contradicts a point, and the sentence that the person reads about it."""

    pattern: str
    note: str


@dataclass(frozen=True)
class Point:
    id: str
    claim: str
    weight: float = 1.0
    required: bool = False
    accept: tuple[str, ...] = ()
    reject: tuple[Reject, ...] = ()
    feedback: str = ""
    says: tuple[str, ...] = ()  # the claim in other whole sentences, each of which earns it


@dataclass(frozen=True)
class Slot:
    """An exact answer: an expression in `names`, or a number. Its id is the id of the point that it earns."""

    id: str
    label: str
    answer: str
    names: Mapping[str, str] = field(default_factory=dict)  # name -> scalar | simplex | vector | matrix | index
    tolerance: float = 1e-6
    wrong: tuple[Reject, ...] = ()  # expressions that people give instead, each with its note


@dataclass(frozen=True)
class Option:
    id: str
    text: str
    correct: bool = False
    why: str = ""  # for a distractor: why somebody believes it, and what is true


@dataclass(frozen=True)
class Question:
    id: str
    rev: int
    kind: str
    topic: str
    difficulty: int  # 1 to 5
    time_s: int
    prompt: str
    answer: str  # thirty seconds aloud
    why: str  # the longer answer
    sources: tuple[str, ...] = ()
    exercise: str | None = None  # None as well where its set doesn't have that exercise (yet)
    follow_ups: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    points: tuple[Point, ...] = ()
    slots: tuple[Slot, ...] = ()
    options: tuple[Option, ...] = ()
    misconceptions: tuple[Reject, ...] = ()  # false claims that cost no point of their own, and what is true
    asks: tuple[str, ...] = ()  # other wordings of the prompt: read back, they earn nothing either
    concepts: Mapping[str, str] = field(default_factory=dict)  # phrasings that only this question needs
    lexicon: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    learned: Path | None = field(default=None, repr=False, compare=False)  # what the second reader has learned for it

    @property
    def total(self) -> float:
        return sum(point.weight for point in self.points)

    def point(self, point_id: str) -> Point:
        return next(point for point in self.points if point.id == point_id)


@dataclass(frozen=True)
class Labelled:
    """One labelled answer: what a careful person would give for it."""

    question: str
    answer: str
    earned: tuple[str, ...]
    kind: str = "right"
    voice: str = ""
    note: str = ""


class Bank:
    """A folder of question files; a file is read when its question is asked for."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._read: dict[str, Question] = {}

    @cached_property
    def ids(self) -> tuple[str, ...]:
        names = {path.stem for path in self.folder.glob("*.yaml")} - {"lexicon", "order"}
        order = self.folder / "order.yaml"
        first = [line[2:].strip() for line in order.read_text("utf-8").splitlines() if line.startswith("- ")] if order.exists() else []
        return tuple([name for name in first if name in names] + sorted(names - set(first)))

    @cached_property
    def exercises(self) -> frozenset[str]:
        """Ids of the exercises beside these questions, of the built-in ones where there are none: a question may be ahead of its exercise."""
        from .reading import read_catalog_ids

        own = self.folder.parent / "exercises" / "catalog.yaml"
        return read_catalog_ids(own if own.is_file() else _home("attngrade.exercises") / "catalog.yaml")

    @property
    def questions(self) -> tuple[Question, ...]:
        return tuple(self.get(name) for name in self.ids)

    def get(self, question_id: str) -> Question:
        if question_id not in self._read:
            if question_id not in self.ids:
                raise UnknownQuestion(self._offer(question_id))
            from .reading import read_question

            question = read_question(self.folder / f"{question_id}.yaml", self._lexicon)
            exercise = question.exercise if question.exercise in self.exercises else None
            self._read[question_id] = replace(question, exercise=exercise, learned=self.folder / "learned" / f"{question_id}.json")
        return self._read[question_id]

    def labelled(self, question_id: str) -> tuple[Labelled, ...]:
        """The question's own labelled answers; () where it has none yet."""
        from .reading import read_labelled

        path = self.folder / "labelled" / f"{question_id}.yaml"
        return read_labelled(path) if path.exists() else ()

    def problems(self) -> list[str]:
        """Everything that the linter finds, over all files, each line with its file."""
        from .lint import bank_problems

        return bank_problems(self)

    @cached_property
    def _lexicon(self) -> Mapping[str, str]:
        from .reading import read_lexicon

        own = self.folder / "lexicon.yaml"
        return read_lexicon(own if own.exists() else builtin_folder() / "lexicon.yaml")

    def _offer(self, wanted: str) -> str:
        from difflib import get_close_matches

        near = get_close_matches(wanted, self.ids, n=3, cutoff=0.4)
        hint = f"Did you mean {', '.join(near)}?" if near else "`attngrade questions` lists them."
        return f"There is no question {wanted!r}. {hint}"


def builtin_folder() -> Path:
    """Where the questions that ship with attngrade lie."""
    return _home("attngrade.questions")


def _home(package: str) -> Path:
    from importlib.util import find_spec

    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise BankError([f"{package} is not installed; reinstall attngrade."])
    return Path(next(iter(spec.submodule_search_locations)))


def load_bank(folder: Path | str | None = None) -> Bank:
    """The bank in `folder`, or the built-in one."""
    path = builtin_folder() if folder is None else Path(folder)
    if not path.is_dir():
        raise BankError([f"{path}: expected a folder of question files; there is none. Name another folder."])
    if not any(path.glob("*.yaml")):
        raise BankError([f"{path} holds no question file (*.yaml). Name another folder."])
    return Bank(path)
