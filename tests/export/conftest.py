"""One question of every kind, with everything in it that breaks formats."""

from __future__ import annotations

import pytest
from attngrade.quiz.question import Option, Point, Question, Reject, Slot

NASTY = 'a < b & c > "d" ]]> {1:x} `x_i <b>` $\\frac{1}{\\sqrt{d_k}}$ \x0b = é∞'


def make(name: str, kind: str = "open", **more: object) -> Question:
    fields: dict[str, object] = {
        "rev": 1, "topic": "scores/heads", "difficulty": 2, "time_s": 60, "prompt": f"{name}: {NASTY}", "answer": f"d_k grows like 10^6.\n\nThen {NASTY}",
        "why": "- one\n- two *really*", "sources": ("A book",), "exercise": "exercise03", "follow_ups": ("And then?",), "hints": ("Think.",),
        "points": (Point("p1", f"Claim {NASTY}", weight=2.0), Point("p2", "Another claim")),
    }  # fmt: skip
    return Question(id=name, kind=kind, **(fields | more))  # type: ignore[arg-type]


ONE = (Point("choice", "the right one", required=True),)
OPTIONS = (Option("o1", f"right {NASTY}", True), Option("o2", "tempting", why="It looks alike."), Option("o3", "= no"), Option("o4", "fourth", True))
SLOT = Slot("x", "Var(q·k)", "d_k * 2 / 3 | 2/3 d_k", {"d_k": "scalar"}, wrong=(Reject("sqrt(d_k)", "That's the deviation ~ {x}."),))
NUMBER = Slot("n", "The norm", "0.5", tolerance=0.01)


@pytest.fixture
def questions() -> list[Question]:
    return [
        make("open-one"),
        make("choice-one", "choice", points=ONE, options=OPTIONS[:3]),
        make("multi-one", "multi_choice", points=ONE, options=OPTIONS),
        make("order-one", "order", points=ONE, options=tuple(Option(f"s{n}", f"step {n}") for n in range(4))),
        make("numeric-one", "numeric", points=ONE, slots=(NUMBER,), topic="softmax"),
        make("short-one", "slots", points=ONE, slots=(SLOT,), topic="softmax"),
        make("cloze-one", "slots", points=ONE, slots=(SLOT, NUMBER), topic="softmax"),
    ]
