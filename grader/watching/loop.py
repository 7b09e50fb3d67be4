"""The loop of watch mode: look at the files, look at the keys, show what came of it."""

from __future__ import annotations

from collections.abc import Callable

from ..catalog import Exercise
from ..errors import AttngradeError
from ..verdict import Verdict, Word
from . import DONE, Bench, Files, settled
from .keys import LEAVE, Keyboard
from .lookout import Lookout
from .screen import BACK, KEYS, Screen

TICK_S = 0.015
ANSWER_S = 30.0
LONG = "still checking … (Ctrl-C stops it, a new save starts anew)"


class Watch:
    """One session. ``on_verdict`` records an attempt; ``commands`` run what other keys ask for, by name and exercise."""

    def __init__(self, bench: Bench, files: Files, states: dict[str, bool], current: Exercise, on_verdict: Callable[[Exercise, bytes, Verdict], None],
                 commands: dict[str, Callable[[Exercise], None]]):
        self.bench, self.files, self.done, self.current = bench, files, states, current
        self.on_verdict, self.commands = on_verdict, commands
        self.shown: Verdict | None = None
        self.announced: Exercise | None = None  # what the screen has named as the next one and not shown yet
        self.keys = Keyboard()
        self.screen = Screen(self.keys.there)

    def run(self) -> None:
        """Until ``q`` or Ctrl-C (or for ever, where there is no keyboard)."""
        if not self.keys.there:
            self.screen.say("Watching; no keyboard is there, so Ctrl-C (or an end of this process) ends it.")
        with self.keys.listening():
            self.bench.prepare(self.current)
            self.files.look()
            self.check(self.current)
            while self.step():
                pass

    def step(self) -> bool:
        """One look at keys and files; False when it is time to leave."""
        pressed = self.keys.key(TICK_S)
        if pressed == LEAVE:
            return False
        if pressed:
            self.press(pressed)
        self.take()
        for lost in self.files.lost():
            self.screen.say(self.gone(lost))
        if self.shown is not None and self.screen.resized():
            self.draw(self.shown)
        return True

    def take(self) -> None:
        """Check what has been saved. Of several files at once (save all, a checkout) the current one is shown, or the latest; the others get a line each."""
        saves = []
        while (one := self.files.changed()) is not None:
            saves.append((one, self.files.saved))
        if not saves:
            return
        shown = next((save for save in saves if save[0] == self.current), saves[0])
        self.current = shown[0]
        self.check(*shown)
        for save in saves:
            if save is not shown:
                self.aside(*save)

    def aside(self, exercise: Exercise, data: bytes) -> None:
        """Check a file that was saved beside the one that is shown."""
        verdict = self.judged(exercise, data)
        if verdict is None:
            return
        fresh = self.judged_as(exercise, data, verdict)
        self.screen.say(f"Saved too: {exercise.module}.py, {verdict.word} {verdict.score:g}/{verdict.max_score:g}.")
        if fresh and self.all_done():
            self.once_more()

    def judged_as(self, exercise: Exercise, data: bytes, verdict: Verdict) -> bool:
        """Remember a verdict; whether the exercise was open before and is done now."""
        was_done = self.done.get(exercise.id, False)
        self.done[exercise.id] = verdict.word in DONE
        self.on_verdict(exercise, data, verdict)
        return self.done[exercise.id] and not was_done

    def all_done(self) -> bool:
        """Whether nothing is open."""
        return all(self.done.get(one.id) for one in self.files.exercises)

    def gone(self, exercise: Exercise) -> str:
        """What is said of a file that isn't there any more."""
        name, place = f"{exercise.module}.py", self.files.place
        if place.path(exercise).is_dir():
            return f"{name} is a folder now. Put your file in its place and it is checked."
        near = place.renamed(exercise)
        if near is not None:
            return f"{name} is gone, but {near.name} is here. Rename it back and it is checked."
        fresh = "r writes" if self.keys.there and exercise == self.current else f"`attngrade reset {exercise.number}` writes"
        return f"{name} is gone. Save it again and it is checked; {fresh} a fresh stub."

    def press(self, pressed: str) -> None:
        """What a key does. Unknown keys show the list of keys."""
        if pressed == "n":
            self.go_on()
        elif pressed in ("\n", "\r", "c"):
            self.check(self.current)
        elif pressed == "m" and self.shown is not None:
            self.draw(self.shown, whole=True)
        elif pressed == "r":
            self.reset()
        elif pressed in self.commands:
            with self.keys.lent():
                self.commands[pressed](self.current)
            self.screen.back(*self.progress(), self.current)
        else:
            self.screen.say_once(KEYS if self.shown is None else f"{BACK} · {KEYS}")

    def go_on(self) -> None:
        """To the next exercise that isn't done."""
        following = self.announced or self.next_open(after=self.current)
        if following is None:
            self.screen.say("Everything is done. q quits." if self.all_done() else "This is the only one still open.")
            return
        self.current = following
        self.bench.prepare(following)
        self.check(following)

    def reset(self) -> None:
        """Ask, then put the stub back; the old file is kept."""
        self.screen.say(f"Put the stub of {self.current.id} back? Your file is kept beside it. y/n")
        if self.keys.key(ANSWER_S) != "y":
            self.screen.say("Nothing changed.")
            return
        try:
            kept = self.files.place.reset(self.current)
        except AttngradeError as error:
            self.screen.say(str(error))
            return
        self.files.look()
        self.done[self.current.id] = False
        self.screen.say(f"{self.current.module}.py is the stub again.{f' Your old file is {kept.name}.' if kept else ''}")

    def check(self, exercise: Exercise, saved: bytes | None = None) -> None:
        """Show that it is being checked, check what was saved (or what is there now), show the verdict."""
        path = self.files.place.path(exercise)
        data = settled(path) if saved is None else saved
        if data is None:
            self.screen.say(f"{path.name} can't be read: it is missing, or its permissions forbid it." + (" r writes a fresh stub." if self.keys.there else ""))
            return
        self.screen.say(f"checking {path.name} …")
        verdict = self.judged(exercise, data, self.first_word)
        if verdict is None:
            return
        fresh = self.judged_as(exercise, data, verdict)
        following = self.next_open(after=exercise) if fresh else None
        self.announced = following
        self.current = following or self.current
        self.draw(verdict)
        if not data.strip():
            self.screen.say(f"\n{path.name} is empty." + (" r writes a fresh stub." if self.keys.there else ""))
        if following is not None:
            self.screen.say(f"\nNext is {following.id}: open {following.module}.py." + (" (s shows its statement.)" if self.keys.there else ""))
        elif fresh and self.all_done():
            self.once_more()
        elif verdict.word in DONE and (still_open := self.next_open(after=exercise)) is not None:
            self.screen.say(f"\nNext is {still_open.id}" + (": n goes there." if self.keys.there else "."))
        self.bench.prepare(self.current)

    def judged(self, exercise: Exercise, data: bytes, heard: Callable[[Verdict], None] | None = None) -> Verdict | None:
        """The verdict, or None where there is none: Ctrl-C ends the check and not the watching, and so does a new save of the file."""
        lookout = Lookout(lambda: self.files.newer(exercise, data), lambda: self.screen.say(LONG if self.keys.there else "still checking …"))
        try:
            with lookout:
                return self.bench.judge(exercise, data, heard)
        except KeyboardInterrupt:
            self.screen.say("Saved again: that check is dropped." if lookout.cut else "\nThis check was stopped; nothing is recorded. Save to check again, q quits.")
        except AttngradeError as error:
            self.screen.say(f"Not checked: {error}")
        return None

    def first_word(self, verdict: Verdict) -> None:
        """What is known already while the mistake is being named."""
        self.screen.say(f"{verdict.word} {verdict.score:g}/{verdict.max_score:g}. Which mistake is it …")

    def once_more(self) -> None:
        """Check everything again, and say what no longer holds."""
        self.screen.say("\nAll done. Everything is checked once more …")
        fallen, unseen = [], []
        for exercise in self.files.exercises:
            data = settled(self.files.place.path(exercise))
            verdict = self.judged(exercise, data or b"")
            if verdict is None:
                return
            unseen += [exercise.id] if verdict.word is Word.PROVISIONAL else []
            if verdict.word not in DONE:
                self.done[exercise.id] = False
                if data is not None:
                    self.on_verdict(exercise, data, verdict)
                fallen.append(exercise)
        if fallen:
            self.screen.say(f"No longer right: {', '.join(e.id for e in fallen)}.")
            self.current = self.announced = fallen[0]
        else:
            seen = f" as far as it can be seen here: {', '.join(unseen)} wait{'s' if len(unseen) == 1 else ''} for a GPU" if unseen else ""
            self.screen.say(f"All of it holds{seen}. Next: attngrade quiz --interview")

    def next_open(self, after: Exercise) -> Exercise | None:
        """The next exercise that isn't done, in order, starting behind ``after`` and going round."""
        order = list(self.files.exercises)
        place = order.index(after)
        return next((e for e in (*order[place + 1 :], *order[:place]) if not self.done.get(e.id)), None)

    def draw(self, verdict: Verdict, whole: bool = False) -> None:
        """The verdict, with progress and keys at the bottom."""
        self.shown = verdict
        self.screen.draw(verdict, *self.progress(), self.current, whole)

    def progress(self) -> tuple[int, int]:
        """How many exercises are done, and how many there are."""
        return sum(self.done.get(e.id, False) for e in self.files.exercises), len(self.files.exercises)
