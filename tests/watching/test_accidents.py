"""What a learner sees when a check hangs, a file goes astray or another key is pressed: one sentence, and watching goes on."""

from __future__ import annotations

from attngrade.catalog import builtin

from tests.watching.editor import RIGHT, ROOT_MISSING, STOPS, children, save


def test_a_new_save_ends_the_check_of_the_old_one(watching, path):
    session = watching()
    session.expect("Not written yet")
    save(path, STOPS)
    session.expect("checking")
    session.until(lambda: len(children(session.process.pid)) > 0, "a worker")
    save(path, ROOT_MISSING)

    session.expect("Saved again: that check is dropped.", timeout=30)
    session.expect("In unit_rms_scale")


def test_a_loop_inside_a_function_is_ended_by_the_next_save_too(watching, path):
    session = watching()
    session.expect("Not written yet")
    save(path, RIGHT.replace("    q = rng.standard", "    while True:\n        pass\n    q = rng.standard"))
    session.expect("still checking", timeout=30)
    save(path, ROOT_MISSING)

    session.expect("In unit_rms_scale", timeout=30)


def test_of_several_files_saved_at_once_the_current_one_is_shown(watching, place, path):
    session = watching()
    session.expect("q quit")
    second, third = (place.path(one) for one in builtin().exercises[1:3])
    for each in (path, second, third):
        each.write_text(ROOT_MISSING if each == path else "def broken(:\n")

    session.expect("Saved too: exercise02_softmax_jacobian.py, failed 0/40.")
    session.expect("Saved too: exercise03_causal_mask.py, failed 0/36.")
    assert "In unit_rms_scale" in session.screen
    assert "watching exercise01" in session.screen


def test_a_renamed_file_is_recognised(watching, path):
    session = watching()
    session.expect("q quit")
    path.rename(path.with_name("my_variance.py"))

    session.expect("exercise01_variance.py is gone, but my_variance.py is here. Rename it back")


def test_a_folder_in_its_place_is_told(watching, path):
    session = watching()
    session.expect("q quit")
    path.unlink()
    path.mkdir()

    session.expect("exercise01_variance.py is a folder now.")


def test_an_empty_file_is_called_empty(watching, path):
    session = watching()
    session.expect("q quit")
    save(path, "")

    session.expect("exercise01_variance.py is empty. r writes a fresh stub.")


def test_after_a_pass_the_bottom_names_the_next_exercise_alone(watching, path):
    session = watching()
    session.expect("Not written yet")
    save(path, RIGHT)

    screen = session.expect("Next is exercise02")
    assert "watching exercise02_softmax_jacobian.py" in screen
    assert screen.count("Next") == 1
    session.type("n")  # to the one that was named and not shown yet, and none is passed over
    session.expect("Not written yet")
    session.expect("watching exercise02_softmax_jacobian.py")
    save(path, RIGHT + "\n")

    assert "watching exercise01_variance.py" in session.expect("Next is exercise02: n goes there.")


def test_a_reset_exercise_is_open_again(watching, path):
    session = watching()
    session.expect("Not written yet")
    save(path, RIGHT)
    session.expect("1/6 done")
    path.write_text(ROOT_MISSING)
    session.expect("0/6 done")
    save(path, RIGHT + "\n")
    session.expect("Next is exercise02")
    save(path, RIGHT + "\n\n")
    session.expect("watching exercise01")
    session.type("ry")
    session.expect("is the stub again")
    session.forget()
    session.type("h")

    assert "0/6 done" in session.expect("q quit")


def test_after_another_command_the_keys_stand_below_it(watching, path):
    path.write_text(ROOT_MISSING)
    session = watching()
    session.expect("q quit")
    session.forget()
    session.type("l")
    session.expect("exercise06")
    session.expect("m verdict again · h hint")
    session.forget()
    session.type("m")

    session.expect("In unit_rms_scale")


def test_in_watch_mode_the_next_step_is_a_save_and_no_command(watching, path):
    session = watching()
    assert "Next: write score_moments and save." in session.expect("q quit")
    save(path, "def f(:\n")
    session.expect("Next: mend line 1 and save the file.")
    save(path, ROOT_MISSING)

    session.expect("In unit_rms_scale")
    assert "attngrade hint" not in session.expect("q quit")
