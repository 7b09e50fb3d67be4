"""Taking one answer: several lines, drafts kept line by line, hints on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..quiz.question import Question
from ..render.prose import filled, keys_told, wrapped

if TYPE_CHECKING:
    from ..store import Store
    from .console import Console

COMMANDS = ":hint :edit :skip :quit :help"
_BY_LETTERS = {"choice": "One letter.", "multi_choice": "Every right letter, such as: a c.", "order": "All letters in order, such as: b a c."}
_HELP = ":hint the next hint · :edit your $EDITOR · :again start afresh · :skip go on without · :quit leave"
_ALIASES = {":h": ":hint", ":e": ":edit", ":s": ":skip", ":q": ":quit", ":?": ":help"}


@dataclass(frozen=True)
class Typed:
    """What came of asking."""

    text: str
    seconds: float
    hints: int = 0


class Skipped(Exception):
    """The person goes on without answering; nothing is logged."""


class Left(Exception):
    """The person leaves; what was typed is kept as a draft."""

    def __init__(self, by_signal: bool = False):
        super().__init__()
        self.by_signal = by_signal


def wanted_lines(question: Question) -> int:
    """How many lines are a whole answer; 0: as many as one likes, and an empty one at the end."""
    return 0 if question.kind == "open" else max(1, len(question.slots))


def how_to_answer(question: Question) -> str:
    """What to type, in one line."""
    if question.options:
        return _BY_LETTERS[question.kind]
    if len(question.slots) > 1:
        return f"One line for each: {'; '.join(slot.label for slot in question.slots)}."
    return "One line: a formula or a number." if question.slots else "Write as you would say it; an empty line ends the answer."


class Taker:
    """Takes the answer to one question."""

    def __init__(self, console: Console, store: Store, question: Question):
        self.console, self.store, self.question = console, store, question
        self.lines: list[str] = []
        self.offered: list[str] = []  # what stands on the next lines already
        self.wanted = wanted_lines(question)
        self.hints = 0
        self.spent = self.before = 0.0
        self.started = 0.0

    def take(self, begin_with: str = "", before: float = 0.0) -> Typed:
        """The answer; ``before``: seconds that earlier tries took. Raises Skipped or Left; either way nothing typed is lost."""
        self.before = before
        text, self.spent = self.store.draft(self.question.id)
        self.started = self.console.now()
        self._offer(begin_with)
        if text and not self.question.options:
            self._go_on_from(text)
        try:
            self._type()
        except KeyboardInterrupt:
            self._keep(self.console.unfinished())
            self.console.say()
            raise Left(by_signal=True) from None
        return Typed(_sane("\n".join(self.lines)).strip(), self._seconds(), self.hints)

    def _offer(self, text: str) -> None:
        """Have this stand on the next lines. Not letters: another one typed behind them would be a second letter."""
        self.offered = [*text.split("\n"), *self.offered] if text and not self.question.options else self.offered

    def _go_on_from(self, text: str) -> None:
        begun = [f"       {line}" for line in wrapped(text, self.console.width - 7)]
        self.console.say(["You had begun:", *begun, "Go on from there; :again starts afresh."])
        if self.wanted:  # a line that has its place is finished in its place
            self._offer(text)
        else:
            self.lines = text.split("\n")

    def _type(self) -> None:
        asked_twice = False
        while not (self.wanted and len(self.lines) >= self.wanted):
            try:
                line = self.console.line(self._left, self.offered.pop(0) if self.offered else "")
            except EOFError:
                self.console.say()
                if not self.lines:
                    raise Left from None
                return
            text, command = _parted(line)
            if command:
                self._obey(command, text)
            elif text.strip():
                self.lines.append(text)
                self._keep()
            elif self.lines or asked_twice:
                return
            else:
                asked_twice = True
                self._say("Nothing typed. Enter again: I don't know. :skip goes on without an answer.")

    def _obey(self, command: str, before: str) -> None:
        """Do what a command says; what stood before it on its line stays."""
        if command in (":hint", ":help"):
            self._offer(before)
        elif before:
            self.lines.append(before)
        _COMMANDS[command](self)

    def _say(self, text: str) -> None:
        self.console.say(filled(text, self.console.width))

    def hint(self) -> None:
        """Show the next hint."""
        if self.hints < len(self.question.hints):
            self.hints += 1
            text = f"Hint {self.hints} of {len(self.question.hints)}: {self.question.hints[self.hints - 1]}"
        else:
            text = "There are no more hints." if self.hints else "This question has no hints."
        self.console.say(wrapped(text, self.console.width, "       "))

    def edit(self) -> None:
        """Let the person's own editor have the answer."""
        text = self.console.edit("\n".join(self.lines))
        if text is None:
            self._say("No editor, or nothing saved there. $EDITOR names the one to use.")
            return
        self.lines = [line.rstrip() for line in text.strip().split("\n") if line.strip()]
        self._keep()
        self.console.say([f"       {line}" for line in self.lines])

    def skip(self) -> None:
        """Pass."""
        self.store.drop_draft(self.question.id)
        raise Skipped

    def quit(self) -> None:
        """Leave, with a draft."""
        self._keep()
        raise Left

    def again(self) -> None:
        """Forget what was typed."""
        self.lines, self.offered = [], []
        self.store.drop_draft(self.question.id)

    def help(self) -> None:
        """Say what can be typed."""
        self.console.say([*filled(how_to_answer(self.question), self.console.width), *keys_told(_HELP, self.console.width)])

    def _keep(self, rest: str = "") -> None:
        text = _sane("\n".join([*self.lines, rest] if rest.strip() else self.lines))
        if text.strip():
            self.store.save_draft(self.question.id, text, self._seconds())

    def _seconds(self) -> float:
        return self.spent + self.console.now() - self.started

    def _left(self) -> float:
        return self.question.time_s - self.before - self._seconds()


_COMMANDS = {":hint": Taker.hint, ":edit": Taker.edit, ":skip": Taker.skip, ":quit": Taker.quit, ":again": Taker.again, ":help": Taker.help}


def _parted(line: str) -> tuple[str, str]:
    """A line's text and the command that is the whole of it, or its end: a command counts behind what stood there already, too."""
    word = _ALIASES.get(line.strip(), line.strip())
    if word in _COMMANDS:
        return "", word
    before, colon, last = line.rstrip().rpartition(":")
    return (before.rstrip(), colon + last) if colon + last in _COMMANDS else (line, "")


def _sane(text: str) -> str:
    """Bytes that were no UTF-8 become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
