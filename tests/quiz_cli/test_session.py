"""A sitting, keystroke by keystroke."""

from __future__ import annotations

import pytest
from attngrade.cli.quiz_session import Session
from attngrade.quiz.deck import given_answers, load_deck
from attngrade.store import Answer, Flip, Review, Store

from .conftest import Clock, Leaves, Script, SmallBank, keyword_marker, make_question


def ratings(store: Store) -> dict[str, int]:
    return {name: card.rating for name, card in load_deck(store, Clock(store.entries()[-1].at)()).cards.items()}


def test_an_answer_is_marked_explained_and_scheduled(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    script, finished = sit([5, "it is mean zero", 7, "and so on", "", ""], ["variance"])

    [entry] = store.entries(Answer)
    assert finished
    assert (entry.record.text, entry.record.earned, entry.record.seconds) == ("it is mean zero\nand so on", ("mean",), 12.0)
    assert ratings(store) == {"variance": 1}
    for expected in ("What about variance?", "it is «mean» zero", "1 ✓ The mean is zero.", "2 · The deviation", "Zero mean, root deviation.", "And with bias?"):
        assert expected in script.text
    assert "1 of 2 points · 50% · 0:12 of 1:00" in script.text


def test_what_is_missing_comes_with_its_explanation(sit) -> None:  # type: ignore[no-untyped-def]
    script, _ = sit(["std", "", ""], ["variance"])

    assert "not found: Say what the mean is." in script.text


def test_a_contradicted_point_shows_the_words_that_lost_it(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    script, _ = sit(["mean but not std", "", ""], ["variance"])

    assert "‹std›" in script.text
    assert "2 ✗" in script.text
    assert store.entries(Answer)[0].record.contradicted == ("std",)


def test_one_key_flips_a_point_and_another_undoes_it(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    script, _ = sit(["std", "", "1", "u", "1", ""], ["variance"])

    assert [(entry.record.earned, entry.record.score) for entry in store.entries(Flip)] == [(True, 1.0), (False, 0.5), (True, 1.0)]
    assert given_answers(store)[0].score == 1.0
    assert ratings(store) == {"variance": 4}
    assert "counted on your word" in script.text
    assert "Undone." in script.text


def test_undoing_with_nothing_to_undo_says_so(sit) -> None:  # type: ignore[no-untyped-def]
    script, _ = sit(["std", "", "u", ""], ["variance"])

    assert "nothing to undo" in script.text


def test_the_persons_own_rating_counts_and_can_be_undone(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    sit(["std", "", "e", "", "std", "", "e", "u", ""], ["variance", "scale"])

    assert ratings(store) == {"variance": 4, "scale": 2}


def test_an_unknown_key_says_which_keys_there_are(sit) -> None:  # type: ignore[no-untyped-def]
    script, _ = sit(["std", "", "z", "9", ""], ["variance"])

    assert script.text.count("Enter goes on") == 2


def test_a_typo_is_corrected_without_penalty(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    script, _ = sit(["maen std", "second line", "", "t", "mean std", "second line", "", ""], ["variance"])

    first, second = store.entries(Answer)
    assert script.prefilled[3:5] == ["maen std", "second line"]
    assert second.record.replaces == first.id
    assert [given.score for given in given_answers(store)] == [1.0]
    assert ratings(store) == {"variance": 4}


def test_a_typo_left_uncorrected_leaves_the_first_try_standing(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    sit(["mean", "", "t", ":skip", ""], ["variance"])

    assert ratings(store) == {"variance": 1}
    assert len(store.entries(Answer)) == 1


def test_w_shows_the_longer_answer_and_the_sources(sit) -> None:  # type: ignore[no-untyped-def]
    script, _ = sit(["std", "", "w", ""], ["variance"])

    assert "Because variances add." in script.text
    assert "A book" in script.text


def test_an_empty_answer_is_asked_for_twice_and_never_passes(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    script, _ = sit(["", "", ""], ["variance"])

    assert "I don't know" in script.text
    assert store.entries(Answer)[0].record.score == 0.0
    assert ratings(store) == {"variance": 1}


def test_skipping_leaves_no_trace(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    script, finished = sit(["something", ":skip"], ["variance"])

    assert finished
    assert store.entries() == []
    assert store.draft("variance") == ("", 0.0)
    assert "Nothing answered." in script.text


def test_a_hint_costs_the_easy_rating(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    script, _ = sit([":hint", ":h", "mean std", "", ""], ["variance"])

    assert "Hint 1 of 1: Look at one term." in script.text
    assert "no more hints" in script.text
    assert (store.entries(Answer)[0].record.hints, ratings(store)) == (1, {"variance": 3})


def test_a_late_answer_is_good_not_easy(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    sit([61, "mean std", "", ""], ["variance"])

    assert ratings(store) == {"variance": 3}


def test_ctrl_c_while_typing_keeps_every_line_and_the_half_one(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    script, finished = sit([3, "first line", KeyboardInterrupt], ["variance", "scale"], half="and ha")

    assert not finished
    assert store.draft("variance") == ("first line\nand ha", 3.0)
    assert "what you had begun is kept" in script.text

    script, _ = sit([4, "lf mean std", "", ""], ["variance"])
    assert "You had begun:" in script.text
    assert store.entries(Answer)[0].record.text == "first line\nand ha\nlf mean std"
    assert store.entries(Answer)[0].record.seconds == 7.0
    assert store.draft("variance") == ("", 0.0)


def test_a_crash_while_typing_has_every_line_on_the_disk_already(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(Leaves):
        sit(["first line", "second line"], ["variance"])

    assert store.draft("variance")[0] == "first line\nsecond line"


def test_a_begun_answer_can_be_started_afresh(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    store.save_draft("variance", "old", 1.0)
    sit([":again", "mean", "", ""], ["variance"])

    assert store.entries(Answer)[0].record.text == "mean"


@pytest.mark.parametrize(("leave", "finished"), [("q", True), (KeyboardInterrupt, False), (EOFError, True)])
def test_leaving_at_the_marks_keeps_the_answer_with_the_proposed_rating(sit, store: Store, leave: object, finished: bool) -> None:  # type: ignore[no-untyped-def]
    script, ended = sit(["mean std", "", leave], ["variance", "scale"])

    assert ended is finished
    assert ratings(store) == {"variance": 4}
    assert "1 answer in 0:00 · 100% of the points" in script.text


def test_end_of_input_ends_an_answer_and_leaves_where_nothing_is_typed(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    _, finished = sit(["mean std", EOFError, "", EOFError], ["variance", "scale"])

    assert finished
    assert store.entries(Answer)[0].record.text == "mean std"
    assert ratings(store) == {"variance": 4}


def test_the_editor_takes_over_the_answer(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    sit(["mean std", ":edit", "", ""], ["variance"])

    assert store.entries(Answer)[0].record.text == "mean std\nfrom the editor"


def test_an_interview_shows_no_marks_until_the_end(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    script, finished = sit([10, "mean std", "", 70, "mean", "", "", "1", "2", ""], ["variance", "jacobian"], interview=True)

    asked_last = script.text.index("What about jacobian?")
    assert "points" not in script.text[:asked_last]
    report = script.text[asked_last:]
    assert "The report" in report
    assert "75% of the points; 1 of 2 answers over time." in report
    assert finished
    assert {name: card.rating for name, card in load_deck(store, store.entries()[-1].at).cards.items()} == {"variance": 4, "jacobian": 2}


def test_leaving_an_interview_halfway_keeps_and_rates_what_was_answered(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    _, finished = sit(["mean std", "", KeyboardInterrupt], ["variance", "jacobian"], interview=True)

    assert not finished
    assert ratings(store) == {"variance": 4}


def test_a_choice_is_answered_by_its_letter_on_one_line(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    script, _ = sit(["a1", ""], ["pick"])

    assert store.entries(Answer)[0].record.text == "a1"
    assert ratings(store) == {"pick": 4}
    assert "a1) before the softmax" in script.text


def test_the_end_says_what_comes_next(sit, store: Store) -> None:  # type: ignore[no-untyped-def]
    script, _ = sit(["mean std", "", ""], ["variance"])
    assert "the next one comes in 8 days" in script.text

    sit(["x", "", ""], ["scale"])
    assert store.entries(Review)[-1].record.rating == 1


def test_a_question_without_hints_says_so(store: Store, clock: Clock) -> None:
    bare = SmallBank([make_question("bare", hints=(), follow_ups=(), sources=())])
    script = Script([":hint", ":help", "mean std", "", ""])
    Session(script, store, bare, keyword_marker, clock).run(["bare"])  # type: ignore[arg-type]

    assert "This question has no hints." in script.text
    assert ":again start afresh" in script.text
