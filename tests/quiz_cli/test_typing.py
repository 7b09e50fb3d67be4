"""What is typed at a question and can't be read, is broken off or steers: lines, letters, commands, widths."""

from __future__ import annotations

import pytest
from attngrade.cli.quiz_session import Session
from attngrade.store import Answer, Store

from .conftest import Clock, Script, SmallBank, keyword_marker


def test_an_unreadable_formula_is_asked_again_and_spends_no_attempt(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    script, _ = sit([2, "x = (???", 3, "x", ""], ["slot"])

    assert "the bracket isn't closed" in script.text
    assert (script.prefilled, script.recalled) == (["", ""], ["x = (???"])
    assert script.left == [60.0, 58.0]  # the clock goes on
    [entry] = store.entries(Answer)
    assert (entry.record.text, entry.record.seconds) == ("x", 5.0)


def test_an_unreadable_letter_leaves_an_empty_line(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    script, _ = sit(["b2 ???", "a1", ""], ["pick"])

    assert script.prefilled == ["", ""]
    assert store.entries(Answer)[0].record.text == "a1"


def test_unreadable_lines_stand_in_their_places_to_be_mended(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    script, _ = sit(["x", "y ???", "x", "y", ""], ["pair"])

    assert script.prefilled == ["", "", "x", "y ???"]
    assert store.entries(Answer)[0].record.text == "x\ny"


@pytest.mark.parametrize("typed", [["x", "y ???", "x:skip"], ["x ???:skip"], ["x :skip"], ["x", ":s"]])
def test_a_command_counts_behind_what_stands_on_its_line_too(sit, store: Store, typed: list[str]) -> None:  # type: ignore[no-untyped-def]
    script, finished = sit(typed, ["pair"])

    assert finished
    assert store.entries(Answer) == []
    assert "Skipped." in script.text


@pytest.mark.parametrize(("name", "stands"), [("variance", ["", ""]), ("slot", ["", "1/sq"]), ("pick", ["", ""])])
def test_leaving_keeps_what_stood_before_the_command(sit, store: Store, name: str, stands: list[str]) -> None:  # type: ignore[no-untyped-def]
    script, _ = sit(["1/sq :quit"], [name])
    assert store.draft(name)[0] == "1/sq"

    again, _ = sit([":quit"], [name])
    assert script.prefilled + again.prefilled == stands  # a letter isn't typed on


@pytest.mark.parametrize("command", [":hint", ":help"])
def test_a_line_broken_off_for_help_stands_there_again(sit, store: Store, command: str) -> None:  # type: ignore[no-untyped-def]
    script, _ = sit([f"mean {command}", "mean std", "", ""], ["variance"])

    assert script.prefilled[:2] == ["", "mean"]
    assert store.entries(Answer)[0].record.text == "mean std"


def test_a_letter_typed_again_replaces_the_first(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    script, _ = sit(["b2", "t", "a1", ""], ["pick"])

    assert script.prefilled == ["", ""]
    assert store.entries(Answer)[-1].record.text == "a1"


def test_all_points_have_no_cross_in_the_list_at_the_end(sit) -> None:  # type: ignore[no-untyped-def]
    script, _ = sit(["mean std", "", "h", "", "mean", "", ""], ["variance", "scale"])
    rows = [line.split()[:3] for line in script.shown if line.startswith(("  ✓", "  ✗"))]

    assert rows == [["✓", "variance", "100%"], ["✗", "scale", "50%"]]


def test_bytes_that_are_no_text_become_question_marks(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    sit(["mean \udcff std", "", ""], ["variance"])

    assert store.entries(Answer)[0].record.text == "mean ? std"


def test_an_answer_cant_steer_the_terminal(sit) -> None:  # type: ignore[no-untyped-def]
    script, _ = sit(["mean \x1b[2J\x07 ‮ std", "", ""], ["variance"])

    assert not any(character in script.text for character in "\x1b\x07‮")


@pytest.mark.parametrize("width", [40, 59, 79])
def test_no_line_is_wider_than_the_terminal(sit, width: int) -> None:  # type: ignore[no-untyped-def]
    script, _ = sit(["mean is " + "long " * 60, "", "1", "?", "w", "u", ""], ["variance"], width=width)

    assert max(map(len, script.shown)) <= width


@pytest.mark.parametrize("width", [40, 59, 79])
def test_help_is_broken_between_keys_at_any_width(sit, monkeypatch: pytest.MonkeyPatch, width: int) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(Script, "edit", lambda *_: None)
    script, _ = sit([":help", ":hint", ":hint", ":edit", "", ":skip"], ["pair"], width=width)
    keys = [key for line in script.shown if "·" in line and ":" in line for key in line.strip(" ·").split(" · ")]

    assert max(map(len, script.shown)) <= width
    assert keys[-5:] == [":hint the next hint", ":edit your $EDITOR", ":again start afresh", ":skip go on without", ":quit leave"]


def test_keys_told_after_the_window_has_become_narrower_fit_it(store: Store, clock: Clock, bank: SmallBank) -> None:
    class Narrowing(Script):
        def key(self, prompt: str) -> str:
            self.width = 40
            return super().key(prompt)

    script = Narrowing(["mean std", "", "z", ""])
    Session(script, store, bank, keyword_marker, clock).run(["variance"])  # type: ignore[arg-type]
    told = next(place for place, line in enumerate(script.shown) if line.startswith("Enter goes on"))

    assert max(map(len, script.shown[told:])) <= 40
