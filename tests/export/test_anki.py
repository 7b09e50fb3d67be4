"""Anki packages, read by Anki's own importer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from attngrade.export.tables import as_tsv
from attngrade.quiz.question import Question

pytest.importorskip("genanki", reason="the extra `anki` (genanki) is not installed")
collection = pytest.importorskip("anki.collection", reason="the real importer, `anki`, is not installed (extra `dev`)")

from attngrade.export.anki import FIELDS, guid, write_package  # noqa: E402

NOW = datetime(2026, 7, 26, 12, 0, tzinfo=UTC)


@pytest.fixture
def anki(tmp_path: Path) -> Iterator[Any]:
    opened = collection.Collection(str(tmp_path / "collection.anki2"))
    yield opened
    opened.close()


def take_in(anki: Any, questions: list[Question], path: Path, now: datetime) -> Any:
    write_package(questions, path, now)
    request = collection.ImportAnkiPackageRequest(package_path=str(path), options=collection.ImportAnkiPackageOptions(merge_notetypes=True))
    return anki.import_anki_package(request).log


def fields(anki: Any, question: Question) -> dict[str, str]:
    [name] = anki.find_notes(f'Id:"{question.id}"')
    return dict(anki.get_note(name).items())


def test_every_kind_arrives_as_one_card(anki: Any, questions: list[Question], tmp_path: Path) -> None:
    log = take_in(anki, questions, tmp_path / "a.apkg", NOW)

    assert len(log.new) == len(questions) == anki.card_count()
    assert set(fields(anki, questions[0])) == set(FIELDS)


def test_importing_twice_adds_nothing(anki: Any, questions: list[Question], tmp_path: Path) -> None:
    take_in(anki, questions, tmp_path / "a.apkg", NOW)
    log = take_in(anki, questions, tmp_path / "b.apkg", NOW + timedelta(days=1))

    assert not log.new
    assert anki.note_count() == len(questions)


def test_an_edited_question_updates_in_place_and_keeps_its_history(anki: Any, questions: list[Question], tmp_path: Path) -> None:
    take_in(anki, questions, tmp_path / "a.apkg", NOW)
    [card] = anki.find_cards('Id:"open-one"')
    scheduled = anki.get_card(card)
    scheduled.reps, scheduled.ivl, scheduled.type, scheduled.queue = 7, 30, 2, 2
    anki.update_card(scheduled)
    edited = [replace(questions[0], rev=2, answer="Now it says this."), *questions[1:]]

    log = take_in(anki, edited, tmp_path / "b.apkg", NOW + timedelta(hours=1))

    assert len(log.updated) >= 1
    assert not log.new
    assert "Now it says this." in fields(anki, questions[0])["Answer"]
    assert (anki.get_card(card).reps, anki.get_card(card).ivl) == (7, 30)


def test_formulas_become_mathjax_and_nothing_becomes_markup(anki: Any, questions: list[Question], tmp_path: Path) -> None:
    take_in(anki, questions, tmp_path / "a.apkg", NOW)

    prompt = fields(anki, questions[0])["Prompt"]
    assert "\\(\\frac{1}{\\sqrt{d_k}}\\)" in prompt
    assert "a &lt; b &amp; c" in prompt
    assert "<code>x_i &lt;b&gt;</code>" in prompt


def test_both_sides_of_every_card_can_be_drawn(anki: Any, questions: list[Question], tmp_path: Path) -> None:
    take_in(anki, questions, tmp_path / "a.apkg", NOW)

    for name in anki.find_cards(""):
        drawn = anki.get_card(name).render_output()
        assert "{{" not in drawn.question_text + drawn.answer_text
        assert len(drawn.answer_text) > len(drawn.question_text)


def test_topic_and_exercise_are_tags(anki: Any, questions: list[Question], tmp_path: Path) -> None:
    take_in(anki, questions, tmp_path / "a.apkg", NOW)

    assert len(anki.find_notes("tag:exercise03")) == len(questions)
    assert len(anki.find_notes("tag:topic::softmax")) == 3


def test_a_choice_shows_its_options_in_front_and_the_right_one_behind(anki: Any, questions: list[Question], tmp_path: Path) -> None:
    take_in(anki, questions, tmp_path / "a.apkg", NOW)

    seen = fields(anki, questions[1])
    assert "tempting" in seen["Prompt"]
    assert "tempting" not in seen["Answer"]
    assert "It looks alike." in seen["Why"]


def test_keys_are_stable_for_ever() -> None:
    assert guid("score-variance") == GUID


GUID = "e1O-`L-[~K"


def test_the_text_import_finds_key_and_tags_and_updates_too(anki: Any, questions: list[Question], tmp_path: Path) -> None:
    path = tmp_path / "cards.tsv"
    for text, new in ((as_tsv(questions), len(questions)), (as_tsv(questions).replace("And then?", "And now?"), 0)):
        path.write_text(text, encoding="utf-8")
        metadata = anki.get_csv_metadata(str(path), None)
        log = anki.import_csv(collection.ImportCsvRequest(path=str(path), metadata=metadata)).log
        assert len(log.new) == new

    assert anki.note_count() == len(questions)
    assert len(anki.find_notes("tag:topic::softmax")) == 3


def test_the_built_in_questions_arrive_from_the_command_line(anki: Any, tmp_path: Path) -> None:
    path = tmp_path / "out.apkg"
    done = subprocess.run([sys.executable, "-m", "attngrade", "export", "anki", "--output", str(path)], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    log = anki.import_anki_package(collection.ImportAnkiPackageRequest(package_path=str(path))).log
    assert len(log.new) >= 8
    assert os.listdir(tmp_path).count("out.apkg") == 1
