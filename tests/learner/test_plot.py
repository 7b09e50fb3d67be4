"""Pictures: whose code they come from, what they hold, and that they can be read."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from attngrade.catalog import builtin, open_pack
from attngrade.errors import UsageProblem
from attngrade.plot.axes import Axis
from attngrade.plot.own import author_of, chosen, drawn
from attngrade.plot.picture import Chart, Curve, Grid, Picture
from attngrade.plot.terminal import GLYPHS, as_text
from attngrade.store import Attempt, Store, open_store
from attngrade.workspace import Workspace, init

EXERCISES = builtin().exercises


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    return init(tmp_path / "work", builtin())


@pytest.fixture
def store(tmp_path: Path):
    with open_store(tmp_path / "home" / "attngrade.db") as store:
        yield store


def write(place: Workspace, exercise, source: str, store: Store, verdict: str) -> None:
    """A file in the workspace and the record of a check of it."""
    place.path(exercise).write_text(source)
    digest = hashlib.sha256(source.encode()).hexdigest()
    store.add(Attempt(exercise.id, verdict, 1.0, 1.0, (), digest), at=datetime.now(UTC))


@pytest.fixture(scope="module", params=EXERCISES, ids=lambda e: e.slug)
def shown(request):
    exercise = request.param
    return exercise, drawn(exercise, chosen(exercise, None, None), seed=5)[0]


@pytest.mark.parametrize("width", [60, 80, 100])
def test_every_picture_fits_the_terminal_and_needs_no_colour(shown, width):
    text = as_text(shown[1], width=width, colour=False)

    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= width


def test_no_column_is_named_by_dots_alone(shown):
    assert not [line for line in as_text(shown[1], width=80, colour=False).splitlines() if line.strip() and not line.strip(" …")]


def test_colour_adds_nothing_but_colour(shown):
    plain, coloured = (as_text(shown[1], width=80, colour=colour) for colour in (False, True))

    assert "\x1b[" in coloured
    assert [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", coloured).splitlines()] == plain.splitlines()


def test_every_curve_of_every_picture_can_be_seen(shown):
    for chart in (panel for panel in shown[1].panels if isinstance(panel, Chart)):
        text = as_text(Picture("", "", (chart,)), width=60, colour=False)
        body = "\n".join(line for line in text.splitlines() if "│" in line or "┤" in line)

        assert all(GLYPHS[number] in body for number in range(len(chart.curves))), chart.title


def test_every_picture_is_data_with_a_point_and_facts(shown):
    _, picture = shown

    assert picture.point
    assert picture.facts
    for panel in picture.panels:
        values = [curve.y for curve in panel.curves] if isinstance(panel, Chart) else [panel.shade if panel.shade is not None else panel.group]
        assert all(np.asarray(value, float).size > 2 for value in values)


def test_a_picture_from_the_reference_calls_nothing_yours(shown):
    assert not re.search(r"\byours?\b", as_text(shown[1], width=100, colour=False), re.IGNORECASE)


def test_another_seed_gives_other_numbers():
    exercise = EXERCISES[0]
    one, other = (drawn(exercise, chosen(exercise, None, None), seed=seed)[0] for seed in (1, 2))

    assert one.panels[0].curves[0].y != other.panels[0].curves[0].y


@pytest.mark.parametrize(("verdict", "own"), [("passed", True), ("provisional", True), ("failed", False)])
def test_the_learners_file_is_asked_where_it_passes(place, store, verdict, own):
    exercise = EXERCISES[0]
    write(place, exercise, exercise.solution.read_text(), store, verdict)
    source = chosen(exercise, place, store)

    assert source.own is own
    told = {"passed": "From your exercise01_variance.py, which passes.", "provisional": "From your exercise01_variance.py, which is right as far as it was checked."}
    assert source.because.startswith(told.get(verdict, "From the reference: yours doesn't pass yet"))


def test_a_file_that_changed_since_it_passed_gives_way_and_is_told(place, store):
    exercise = EXERCISES[0]
    write(place, exercise, exercise.solution.read_text(), store, "passed")
    place.path(exercise).write_text("d_k = 3\n")
    source = chosen(exercise, place, store)

    assert source.data == exercise.solution.read_bytes()
    assert "changed since it passed" in source.because


def test_a_missing_file_is_told(place, store):
    place.path(EXERCISES[0]).unlink()

    assert "missing" in chosen(EXERCISES[0], place, store).because


def test_the_numbers_are_the_learners_own(place, store):
    exercise = EXERCISES[0]
    changed = "\n_draw = sample_scores\n\n\ndef sample_scores(rng, n, d_k, scale=1.0):\n    return 3 * _draw(rng, n, d_k, scale)\n"
    write(place, exercise, exercise.solution.read_text() + changed, store, "passed")
    own, _ = drawn(exercise, chosen(exercise, place, store), seed=3)
    reference, _ = drawn(exercise, chosen(exercise, None, None), seed=3)

    assert own.panels[0].curves[0].y == pytest.approx([3 * value for value in reference.panels[0].curves[0].y])


@pytest.mark.parametrize("body", ["raise ValueError('no')", "import os\n    os._exit(0)", "return None"], ids=["raises", "dies", "nothing"])
def test_own_code_that_fails_on_the_way_makes_room_for_the_reference(place, store, body):
    exercise = EXERCISES[0]
    write(place, exercise, exercise.solution.read_text() + f"\n\ndef sample_scores(rng, n, d_k, scale=1.0):\n    {body}\n", store, "passed")
    picture, because = drawn(exercise, chosen(exercise, place, store), seed=3)

    assert because.startswith("From the reference: your file passes its checks, but")
    assert picture.facts


def test_an_exercise_without_a_picture_says_what_there_is():
    import attngrade.starter

    pack = open_pack(Path(attngrade.starter.__file__).parent / "pack")
    with pytest.raises(UsageProblem, match="has no picture"):
        author_of(pack.exercises[0])


def test_the_command_says_whose_code_it_drew(attngrade):
    told = attngrade("plot", "4", "--seed", "1")

    assert told.returncode == 0, told.stderr
    assert told.stdout.rstrip().splitlines()[-1].startswith("From the reference")


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_file_is_written_whole(attngrade, tmp_path, ending):
    pytest.importorskip("matplotlib")
    told = attngrade("plot", "3", "--output", f"mask.{ending}", "--reference")

    assert told.returncode == 0, told.stderr
    assert (tmp_path / f"mask.{ending}").read_bytes().startswith(b"\x89PNG" if ending == "png" else b"<?xml")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize(("output", "word"), [("mask.jpeg", ".png or .svg"), ("nowhere/mask.png", "not a folder")])
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_computed(attngrade, output, word):
    pytest.importorskip("matplotlib")
    told = attngrade("plot", "3", "--output", output)

    assert told.returncode == 2
    assert word in told.stderr


def test_greyscale_tells_the_curves_apart():
    from attngrade.plot.paper import FILLS, HATCHES, INKS, MARKS, STROKES

    light = sorted(int(ink[1:3], 16) * 0.299 + int(ink[3:5], 16) * 0.587 + int(ink[5:], 16) * 0.114 for ink in INKS)
    assert len(set(MARKS)) == len(set(map(str, STROKES))) == len(INKS)
    assert len(set(zip(FILLS, HATCHES, strict=True))) == len(FILLS)
    assert len({round(value) for value in light}) == len(INKS)


def test_what_has_no_logarithm_leaves_a_gap():
    axis = Axis.over([1e-3, 0.0, float("nan"), 10.0], log=True)

    assert axis.places([1e-3, 0.0, 10.0])[[0, 2]].tolist() == [0.0, 1.0]
    assert np.isnan(axis.place(0.0))


@pytest.mark.parametrize(("low", "high", "log"), [(0, 1, False), (0, 0.003, False), (-5, 17, False), (1e-90, 1, True), (512, 4096, True), (3, 3, False)])
def test_an_axis_has_a_few_round_labels(low, high, log):
    labels = [label for _, label in Axis.over([low, high], log).ticks(5)]

    assert 2 <= len(labels) <= 7
    assert len(set(labels)) == len(labels)
    assert max(map(len, labels)) <= 8


def test_curves_that_coincide_take_turns():
    same = Chart("", "x", "y", (Curve("one", [0, 1], [1, 2]), Curve("other", [0, 1], [1, 2])))
    text = as_text(Picture("", "", (same,)), width=60, colour=False)

    assert text.count(GLYPHS[0]) > 10
    assert text.count(GLYPHS[1]) > 10


def test_text_from_elsewhere_cannot_steer_the_terminal():
    wild = Grid("\x1b[2J title", labels=[["\x1b[31m1"]], group=[[0]])

    assert "\x1b" not in as_text(Picture("t", "p", (wild,)), width=60, colour=False)
