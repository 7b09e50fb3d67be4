"""A sitting of several questions: ask, mark, log, show, rate. What is typed is on the disk before it is marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from ..quiz.deck import Deck, load_deck, rate
from ..quiz.marking.records import CONTRADICTED, Marking
from ..quiz.question import Bank, Question
from ..quiz.schedule import RATINGS, preview
from ..quiz.sitting import Sitting
from ..render.marks import answer_lines, clock, in_days, mark_lines, model_lines, point_lines, question_lines, rating_line, rule, why_lines
from ..render.prose import filled, wrapped
from ..store import Answer, Flip
from .quiz_answer import COMMANDS, Left, Skipped, Taker, Typed, how_to_answer

if TYPE_CHECKING:
    from ..store import Store
    from .console import Console

_KEYS = {"a": 1, "h": 2, "g": 3, "e": 4}


@dataclass
class Done:
    """One answered question; `answer` is its id in the log."""

    sitting: Sitting
    answer: str
    days: int = 0


class Session:
    """`marker` marks one answer; `clock` gives the moment, in the person's own time zone."""

    def __init__(self, console: Console, store: Store, bank: Bank, marker: Callable[[Question, str], Marking], moment: Callable[[], datetime]):
        self.console, self.store, self.bank, self.marker, self.moment = console, store, bank, marker, moment
        self.done: list[Done] = []
        self.left: Left | None = None

    def run(self, names: Sequence[str], *, interview: bool = False) -> bool:
        """Ask these questions. Returns False when the person left by Ctrl-C."""
        try:
            for place, name in enumerate(names, start=1):
                self._one(self.bank.get(name), f"{place} of {len(names)}", interview)
            if interview and self.done:
                self._report()
        except (Left, EOFError) as left:
            self.left = left if isinstance(left, Left) else Left()
        except KeyboardInterrupt:
            self.left = Left(by_signal=True)
        self._settle()
        self._close()
        return not (self.left and self.left.by_signal)

    def _one(self, question: Question, place: str, interview: bool) -> None:
        self.console.say(question_lines(question, place, self.console.width, self.console.ink))
        self.console.say([self.console.ink(line, "dim") for line in filled(f"{how_to_answer(question)} {COMMANDS}", self.console.width)])
        try:
            done = self._answered(question)
        except Skipped:
            self.console.say("Skipped.")
            return
        self.done.append(done)
        if not interview:
            self._review(done)

    def _answered(self, question: Question, begin_with: str = "", replaces: str = "") -> Done:
        spent, hints = 0.0, 0
        while True:
            typed = Taker(self.console, self.store, question).take(begin_with, spent)
            spent, hints = spent + typed.seconds, hints + typed.hints
            marking = self.marker(question, typed.text)
            if not marking.unreadable:
                done = self._logged(question, Typed(typed.text, spent, hints), marking, replaces)
                self.store.drop_draft(question.id)
                return done
            self.store.drop_draft(question.id)
            begin_with = typed.text if "\n" in typed.text else ""  # one line is typed anew
            back = " The up key brings your line back." if not begin_with and question.slots and self.console.recall(typed.text) else ""
            self.console.say(filled(f"That can't be read: {marking.unreadable} It hasn't counted; once more.{back}", self.console.width))

    def _logged(self, question: Question, typed: Typed, marking: Marking, replaces: str) -> Done:
        contradicted = tuple(mark.id for mark in marking.points if mark.state == CONTRADICTED)
        record = Answer(
            question.id, typed.text, marking.score, question.rev, marking.earned, contradicted, marking.flags, marking.marker,
            round(typed.seconds, 1), typed.hints, replaces,
        )  # fmt: skip
        return Done(Sitting(question, marking, typed.seconds, typed.hints), self.store.add(record, self.moment()))

    def _review(self, done: Done) -> None:
        """Marks, model answer, and the person's own word on both. Ends with the rating in the log."""
        self._show(done)
        history: list[Sitting] = []
        while True:
            days = self._days(done.sitting)
            self.console.say(["", rating_line(done.sitting, days, self.console.ink)])
            key = self._choice(done.sitting, days)
            if key == "":
                self._rate(done)
                return
            if key == "q":
                raise Left
            if key == "t":
                self._try_again(done)
                return
            self._change(done, key, history)

    def _show(self, done: Done) -> None:
        width, ink = self.console.width, self.console.ink
        if done.sitting.question.kind == "open" and done.sitting.marking.answer:
            self.console.say(["", ink("You said", "bold"), *answer_lines(done.sitting, width, ink)])
        self.console.say(mark_lines(done.sitting, width, ink))
        self.console.say(model_lines(done.sitting.question, width, ink))

    def _choice(self, sitting: Sitting, days: dict[int, int]) -> str:
        number = len(sitting.marking.points)
        flip = f"1-{number} flip a point" if number > 1 else "1 flips the point"
        choices = "  ".join(f"{word[0]} {word} {days[rating]}d" for rating, word in RATINGS.items())
        self.console.say([self.console.ink(line, "dim") for line in filled(choices, self.console.width)])
        keys = {"", "q", "t", "w", "u", *_KEYS, *(str(n) for n in range(1, min(number, 9) + 1))}
        short = f"Enter next · {flip} · t typo · u undo · w why · q leave "
        while (key := self.console.key(short if len(short) < self.console.width else "Enter 1-9 t u w q ? ").lower()) not in keys:
            told = f"Enter goes on; {flip}; t answers again, and this try doesn't count; u undoes; w says why; a h g e rate; q leaves."
            self.console.say(filled(told, self.console.width))  # the window may be another since
        return key

    def _change(self, done: Done, key: str, history: list[Sitting]) -> None:
        width, ink = self.console.width, self.console.ink
        before = done.sitting
        if key == "w":
            self.console.say(why_lines(before.question, width, ink))
        elif key == "u":
            if history:
                done.sitting = history.pop()
                self.console.say("Undone.")
            else:
                self.console.say("There is nothing to undo.")
        else:
            history.append(before)
            done.sitting = before.rated(_KEYS[key]) if key in _KEYS else before.flipped(before.marking.points[int(key) - 1])
        self._log_flips(done, before)
        for number, mark in enumerate(before.marking.points, start=1):
            if before.earned(mark.id) != done.sitting.earned(mark.id):
                self.console.say(["", *point_lines(done.sitting, mark, number, width, ink), f"Now {done.sitting.score:.0%}."])

    def _log_flips(self, done: Done, before: Sitting) -> None:
        now = done.sitting
        changed = [mark.id for mark in now.marking.points if before.earned(mark.id) != now.earned(mark.id)]
        self.store.add_all([Flip(done.answer, point, now.earned(point), now.score) for point in changed], self.moment())

    def _try_again(self, done: Done) -> None:
        """A typo: the same question again, the text typed in beforehand; the first try doesn't count."""
        place = self.done.index(done)
        self.console.say(["", "Correct your answer; the first try doesn't count."])
        try:
            self.done[place] = self._answered(done.sitting.question, done.sitting.marking.answer, replaces=done.answer)
        except Skipped:
            self.console.say("Then the first try stands.")
        self._review(self.done[place])

    def _days(self, sitting: Sitting) -> dict[int, int]:
        deck = self._deck()
        return preview(deck.cards.get(sitting.question.id), sitting.question.id, deck.today, deck.interview)

    def _deck(self) -> Deck:
        return load_deck(self.store, self.moment())

    def _rate(self, done: Done) -> None:
        done.days = self._days(done.sitting)[done.sitting.rating]
        rate(self.store, done.sitting.question.id, done.answer, done.sitting.rating, self.moment())

    def _report(self) -> None:
        """The interview is over: all marks at once, then question by question."""
        score = sum(done.sitting.score for done in self.done) / len(self.done)
        late = sum(done.sitting.seconds > done.sitting.question.time_s for done in self.done)
        width, ink = self.console.width, self.console.ink
        self.console.say(["", ink(rule("The report", width), "bold"), "", f"{score:.0%} of the points; {late} of {len(self.done)} answers over time.", ""])
        self.console.say(self._table())
        for place, done in enumerate(self.done.copy(), start=1):
            self.console.say(["", ink(rule(f"{place} of {len(self.done)} · {done.sitting.question.id}", width), "dim"), ""])
            self.console.say(wrapped(done.sitting.question.prompt, width))
            self._review(done)

    def _settle(self) -> None:
        """Answers on which the person hasn't said a word get the rating that their marks propose."""
        for done in self.done:
            if not done.days:
                self._rate(done)

    def _close(self) -> None:
        if not self.done:
            self.console.say("Nothing answered." if not self.left else "Nothing answered; what you had begun is kept.")
            return
        seconds = sum(done.sitting.seconds for done in self.done)
        score = sum(done.sitting.score for done in self.done) / len(self.done)
        number = f"{len(self.done)} answer{'s' if len(self.done) != 1 else ''}"
        self.console.say(["", self.console.ink(rule(f"{number} in {clock(seconds)} · {score:.0%} of the points", self.console.width), "bold"), ""])
        self.console.say(self._table())
        self.console.say(["", *filled(_next(self._deck(), set(self.bank.ids)), self.console.width)])

    def _table(self) -> list[str]:
        return [_row(done, self.console.width) for done in self.done]


def _row(done: Done, width: int) -> str:
    sitting = done.sitting
    back = f"{RATINGS[sitting.rating]}, {in_days(done.days)}" if done.days else RATINGS[sitting.rating]
    sign = "✓" if sitting.rating > 2 or sitting.score >= 1.0 else "✗"  # all of it, with hints or called hard, is no mistake
    room = max(8, min(28, width - 36))
    return f"  {sign} {sitting.question.id[:room]:{room}} {sitting.score:>5.0%} {clock(sitting.seconds):>6}  {back}"[:width]


def _next(deck: Deck, known: set[str]) -> str:
    due = sum(name in known for name in deck.due)
    if due:
        return f"{due} more due today: attngrade quiz --due"
    coming = min((card.due for name, card in deck.cards.items() if name in known and card.due > deck.today), default=None)
    return f"Nothing else is due; the next one comes {in_days((coming - deck.today).days)}." if coming else "attngrade progress shows where you stand."
