"""What a call allocates has a margin of poison, and what lies behind an argument may not be touched."""

import json
import signal
import textwrap

import pytest


@pytest.mark.parametrize(("masked", "spilled"), [(True, "[]"), (False, "[(5,)]")])
def test_a_fence_shows_what_was_written_past_an_allocation(run, masked, spilled):
    told = run(f"""
        put_up = fence.fence()
        with put_up:
            out = torch.empty(5)
            clean = bool(torch.isnan(out).all())
            copy[(2,)](x, out, 5, 4, {masked})
        print(clean, put_up.spilled(), out.tolist() == x.tolist())
    """)

    assert told.strip() == f"True {spilled} True"


def test_a_fence_keeps_values_layouts_and_views(run):
    told = run("""
        y = torch.arange(24.0).reshape(2, 3, 4)
        with fence.fence() as put_up:
            made = [torch.zeros(2, 3), torch.full((2,), 3), y.transpose(1, 2).contiguous(), torch.empty_like(y.transpose(0, 2)), y.clone()]
            view = y.transpose(1, 2)
        print(made[0].sum().item(), made[1].tolist(), torch.equal(made[2], y.transpose(1, 2)), made[3].stride(), torch.equal(made[4], y))
        print(view.data_ptr() == y.data_ptr(), put_up.spilled())
    """)

    assert told.split("\n")[:2] == ["0.0 [3, 3] True (1, 4, 12) True", "True []"]


def test_what_lies_at_a_pages_end_can_be_read_and_written(run):
    told = run("""
        held = fence.at_page_end(np.arange(1030, dtype=np.float32))
        held[-1] += 1
        print(held.shape, held[0], held[-1])
    """)

    assert told.strip() == "(1030,) 0.0 1030.0"


def test_reading_past_a_pages_end_ends_the_process(start):
    doomed = start()
    doomed.communicate(json.dumps(textwrap.dedent("""
        flat = torch.from_numpy(fence.at_page_end(np.arange(6, dtype=np.float32)))
        copy[(2,)](flat, torch.empty(8), 8, 4, True)
    """)) + "\n", timeout=120)

    assert doomed.returncode == -signal.SIGSEGV
