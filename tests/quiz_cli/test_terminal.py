"""The quiz in a real terminal: keys go in, a screen comes out, signals arrive."""

from __future__ import annotations

import codecs
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attngrade.cli.console import Console
from attngrade.store import Answer, Review, open_store

fcntl = pytest.importorskip("fcntl")
termios = pytest.importorskip("termios")
_ANSI = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|[78])")


class Terminal:
    """A program on a pseudo-terminal."""

    def __init__(self, arguments: list[str], environ: dict[str, str], columns: int = 80):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        command = [sys.executable, "-m", "attngrade", *arguments]
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environ, start_new_session=True, preexec_fn=_take_terminal)
        os.close(slave)
        self.raw, self.decoder = "", codecs.getincrementaldecoder("utf-8")("replace")

    @property
    def screen(self) -> str:
        return _ANSI.sub("", self.raw).replace("\r\n", "\n")

    def expect(self, text: str, timeout: float = 30.0) -> None:
        deadline = time.monotonic() + timeout
        while text not in self.screen:
            assert time.monotonic() < deadline, f"{text!r} never came:\n{self.screen}"
            self._read(0.1)

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def end(self) -> int:
        deadline = time.monotonic() + 30
        while self.process.poll() is None and time.monotonic() < deadline:
            self._read(0.1)
        self._read(0.1)
        return self.process.wait(timeout=1)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)

    def _read(self, patience: float) -> None:
        if select.select([self.master], [], [], patience)[0]:
            try:
                self.raw += self.decoder.decode(os.read(self.master, 65536))
            except OSError:
                time.sleep(0.05)


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def terminal(home: Path) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def run(*arguments: str, columns: int = 80, **environ: str) -> Terminal:
        given = {**os.environ, "ATTNGRADE_HOME": str(home), "TERM": "xterm", **environ}
        opened.append(Terminal(list(arguments), {name: value for name, value in given.items() if value}, columns))
        return opened[-1]

    yield run
    for each in opened:
        each.close()


def answers(home: Path) -> list[str]:
    with open_store(home / "attngrade.db") as store:
        return [entry.record.text for entry in store.entries(Answer)]


def ratings(home: Path) -> list[int]:
    with open_store(home / "attngrade.db") as store:
        return [entry.record.rating for entry in store.entries(Review)]


def draft(home: Path, question: str) -> str:
    with open_store(home / "attngrade.db") as store:
        return store.draft(question)[0]


def test_a_question_is_asked_answered_marked_and_rated(terminal: Callable[..., Terminal], home: Path) -> None:
    screen = terminal("quiz", "score-variance")
    screen.expect(" │ ")
    screen.type("the standard deviation is sqrt(d_k)\r")
    screen.type("\r")
    screen.expect("t typo")
    screen.type("\r")

    assert screen.end() == 0, screen.screen
    assert answers(home) == ["the standard deviation is sqrt(d_k)"]
    assert len(ratings(home)) == 1
    assert "1 answer in" in screen.screen
    assert "\x1b[32m" in screen.raw


def test_the_clock_ticks_in_place_while_nothing_is_typed(terminal: Callable[..., Terminal]) -> None:
    screen = terminal("quiz", "score-variance")
    screen.expect("1:29")
    screen.type("half a li")
    deadline = time.monotonic() + 10
    while len(set(re.findall(r"1:[0-5]\d", screen.screen))) < 4 and time.monotonic() < deadline:
        screen._read(0.1)
    screen.type("ne\x03")

    assert screen.end() == 130, screen.screen
    assert len(set(re.findall(r"1:[0-5]\d", screen.screen))) >= 4


def test_ctrl_c_keeps_the_half_line(terminal: Callable[..., Terminal], home: Path) -> None:
    screen = terminal("quiz", "score-variance")
    screen.expect(" │ ")
    screen.type("first line\rand ha")
    screen.expect("and ha")
    screen.type("\x03")

    assert screen.end() == 130, screen.screen
    assert "Traceback" not in screen.screen
    assert draft(home, "score-variance") == "first line\nand ha"


def test_a_pasted_answer_keeps_its_blank_lines(terminal: Callable[..., Terminal], home: Path) -> None:
    screen = terminal("quiz", "score-variance")
    screen.expect(" │ ")
    screen.type("\x1b[200~first paragraph\n\nsecond paragraph\x1b[201~")
    screen.expect("second paragraph")
    screen.type("\r\r")
    screen.expect("t typo")
    screen.type("\r")

    assert screen.end() == 0, screen.screen
    assert answers(home) == ["first paragraph\n\nsecond paragraph"]


def test_ctrl_c_at_the_very_moment_of_a_tick_is_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    def torn(_: str) -> str:
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr("builtins.input", torn)
    console = object.__new__(Console)
    console.plain, console._readline = True, None

    with pytest.raises(KeyboardInterrupt):
        console.line(lambda: 10.0)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_killed_quiz_has_kept_every_finished_line(terminal: Callable[..., Terminal], home: Path, number: signal.Signals) -> None:
    screen = terminal("quiz", "score-variance")
    screen.expect(" │ ")
    screen.type("first line\r")
    screen.expect("first line\n")
    time.sleep(0.5)
    screen.process.send_signal(number)
    screen.end()

    assert draft(home, "score-variance") == "first line"

    screen = terminal("quiz", "score-variance")
    screen.expect("You had begun:")
    screen.expect("first line")


def test_ctrl_c_at_the_marks_keeps_the_answer_and_its_rating(terminal: Callable[..., Terminal], home: Path) -> None:
    screen = terminal("quiz", "score-variance", "unlearnable")
    screen.expect(" │ ")
    screen.type("sqrt(d_k) is the standard deviation\r\r")
    screen.expect("t typo")
    screen.type("\x03")

    assert screen.end() == 130, screen.screen
    assert len(answers(home)) == len(ratings(home)) == 1


def test_ctrl_d_leaves_and_ends_answers(terminal: Callable[..., Terminal], home: Path) -> None:
    screen = terminal("quiz", "score-variance", "unlearnable")
    screen.expect(" │ ")
    screen.type("sqrt(d_k) is the standard deviation\r\x04")
    screen.expect("t typo")
    screen.type("\r")
    screen.expect("2 of 2")
    screen.expect("ends the answer", timeout=5)
    time.sleep(0.3)
    screen.type("\x04")

    assert screen.end() == 0, screen.screen
    assert len(answers(home)) == 1


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_without_colour_the_same_words_are_there(terminal: Callable[..., Terminal], environ: dict[str, str]) -> None:
    screen = terminal("quiz", "score-variance", **environ)
    screen.expect("0 ")
    screen.type("the standard deviation is sqrt(d_k)\r\r")
    screen.expect("t typo")

    assert not re.search(r"\x1b\[[0-9;]*m", screen.raw.replace("\x1b[0m", ""))
    assert "«" in screen.screen
    assert "not found" in screen.screen


@pytest.mark.parametrize("columns", [60, 80])
def test_no_line_of_output_is_wider_than_the_window(terminal: Callable[..., Terminal], columns: int) -> None:
    screen = terminal("quiz", "score-variance", columns=columns)
    screen.expect(" │ ")
    screen.type("short\r\r")
    screen.expect("Rated")
    screen.type("w")
    screen.expect("Sources")

    written = [line.rpartition("\r")[2] for line in screen.screen.split("\n") if "short" not in line]  # what was typed may be echoed beside the clock
    assert [line for line in written if len(line) > columns] == []


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["quiz"], 2, "needs a terminal"),
        (["quiz", "--due", "--wrong"], 2, "exclude one another"),
        (["quiz", "--count", "0"], 2, "0 is not in the range"),
    ],
)
def test_what_cant_be_meant_is_said_in_a_sentence(arguments: list[str], code: int, says: str, home: Path) -> None:
    environ = {**os.environ, "ATTNGRADE_HOME": str(home)}
    done = subprocess.run([sys.executable, "-m", "attngrade", *arguments], capture_output=True, text=True, env=environ, stdin=subprocess.DEVNULL, check=False)

    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["quiz", "score-varance"], "score-variance"),
        (["quiz", "--topic", "cooking"], "There is no topic 'cooking'. Topics:"),
        (["quiz", "--until", "soon"], "--until takes a date"),
        (["quiz", "--until", "2001-01-01"], "is past"),
        (["quiz", "--judge"], "ATTNGRADE_JUDGE_BASE_URL"),
    ],
)
def test_what_doesnt_exist_is_said_in_a_sentence(terminal: Callable[..., Terminal], arguments: list[str], says: str) -> None:
    screen = terminal(*arguments, OPENAI_BASE_URL="", ATTNGRADE_JUDGE_BASE_URL="")

    assert screen.end() == 2, screen.screen
    assert says in screen.screen
    assert "Traceback" not in screen.screen


def test_a_quiz_that_could_not_keep_answers_doesnt_begin(terminal: Callable[..., Terminal], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    screen = terminal("quiz", ATTNGRADE_HOME=str(tmp_path / "file"))

    assert screen.end() == 3, screen.screen
    assert "ATTNGRADE_HOME" in screen.screen
    assert "Traceback" not in screen.screen


def test_nothing_due_and_nothing_wrong_are_said(terminal: Callable[..., Terminal]) -> None:
    for option, says in (("--due", "Nothing is due today."), ("--wrong", "Nothing was rated again or hard last time.")):
        screen = terminal("quiz", option)
        assert screen.end() == 0, screen.screen
        assert says in screen.screen


def test_an_interview_date_is_remembered_and_forgotten(terminal: Callable[..., Terminal]) -> None:
    for arguments, there in ((["--until", "2199-01-01"], True), ([], True), (["--until", "none"], False)):
        screen = terminal("quiz", *arguments, columns=60)
        screen.expect(" │ ")
        screen.type(":help\r:quit\r")
        assert screen.end() == 0, screen.screen
        assert ("Interview in" in screen.screen) is there
        assert max(len(line.rpartition("\r")[2]) for line in screen.screen.split("\n")) <= 60


def test_a_letter_that_is_no_option_leaves_an_empty_line_and_quit_is_always_taken(terminal: Callable[..., Terminal], home: Path) -> None:
    screen = terminal("quiz", "causal-alignment", "gqa-cache-factor", columns=60)
    for typed, next_come in (("z\r", "more.\n"), ("a\r", "Rated"), ("\r", "2 of 2"), ("what\r", "back."), ("\x1b[A:quit\r", "answer in")):
        screen.expect(" │ ")
        screen.type(typed)
        screen.expect(next_come)

    assert screen.end() == 0, screen.screen
    assert answers(home) == ["a"]
    assert draft(home, "gqa-cache-factor") == "what"
