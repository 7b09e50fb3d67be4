"""One HTML file to print or to read offline: the questions, then the answers. No script, no font, no picture from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from ..quiz.question import Question
from .markup import clean
from .sheet import sheet

_STYLE = """
:root { color-scheme: light dark; --line: #8885; --soft: #666; }
@media (prefers-color-scheme: dark) { :root { --soft: #aaa; } }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); } h3 { margin: 0; font-size: 1rem; }
article { margin: 1.2rem 0; break-inside: avoid; } article > header { display: flex; gap: 1rem; justify-content: space-between; }
small, .meta { color: var(--soft); font-size: .85rem; } .label { margin: .8rem 0 0; font-weight: 600; font-size: .85rem; }
article ul, article ol { margin: .3rem 0; padding-left: 1.4rem; } article p { margin: .4rem 0; } pre { overflow-x: auto; }
.room { display: none; } sub, sup { line-height: 0; }
@media print { body { margin: 0; max-width: none; font-size: 10.5pt; } a { color: inherit; text-decoration: none; } .room { display: block; height: 4.5cm; }
  #answers { break-before: page; } .screen { display: none; } }
"""


def as_page(questions: Iterable[Question], title: str = "Attention, asked and answered") -> str:
    """The whole page."""
    by_topic: dict[str, list[Question]] = {}
    for question in questions:
        by_topic.setdefault(question.topic, []).append(question)
    listed = [question for group in by_topic.values() for question in group]
    numbers = {question.id: number for number, question in enumerate(listed, start=1)}
    asked = "\n".join(_topic(topic, [_asked(question, numbers[question.id]) for question in group]) for topic, group in by_topic.items())
    answered = "\n".join(_answered(question, numbers[question.id]) for question in listed)
    return clean(
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n"
        f'<p class="meta">{len(listed)} question{"" if len(listed) == 1 else "s"}; answers from <a href="#answers">here</a> on.</p>\n'
        f'<main>\n{asked}\n</main>\n<section id="answers">\n<h1>Answers</h1>\n{answered}\n</section>\n</body>\n</html>\n'
    )


def _topic(topic: str, articles: list[str]) -> str:
    return "\n".join([f"<h2>{escape(topic[:1].upper() + topic[1:])}</h2>", *articles])


def _asked(question: Question, number: int) -> str:
    name = escape(question.id, quote=True)
    return (
        f'<article id="q-{name}"><header><h3>{number}</h3><small>{question.time_s} s · difficulty {question.difficulty} of 5'
        f'<span class="screen"> · <a href="#a-{name}">answer</a></span></small></header>\n{sheet(question).asked}<div class="room"></div></article>'
    )


def _answered(question: Question, number: int) -> str:
    pieces, name = sheet(question), escape(question.id, quote=True)
    parts = [("Points", pieces.points), ("Why", pieces.why), ("And then they ask", pieces.follow_ups), ("Sources", pieces.sources)]
    rest = "\n".join(f'<p class="label">{label}</p>{part}' for label, part in parts if part)
    back = f'<a href="#q-{name}">{number}</a>'
    exercise = f" · {pieces.exercise}" if pieces.exercise else ""
    return f'<article id="a-{name}"><header><h3>{back}</h3><small>{name}{exercise}</small></header>\n{pieces.answer}\n{rest}</article>'
