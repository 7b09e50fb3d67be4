"""The worker's eye on Triton: launches, decoys, fences, and the page behind an argument. The interpreter runs in another process."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from functools import partial
from pathlib import Path

import pytest

SENTRY = Path(__file__).resolve().parents[2] / "grader" / "sandbox"
KERNEL = """
import numpy as np, torch, triton, triton.language as tl
import sentry

@triton.jit
def copy(x, out, n, BLOCK: tl.constexpr, MASKED: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if MASKED:
        tl.store(out + i, tl.load(x + i, mask=i < n, other=0.0), mask=i < n)
    else:
        tl.store(out + i, tl.load(x + i, mask=i < n, other=0.0))

class Given:
    def __init__(self, flat):
        self.flat, self.device = flat, "cpu"

kernels = sentry.Kernels()
kernels.watch(__file__)
x = torch.arange(5.0)
"""


LOOP = """
while script := sys.stdin.readline():
    print(end="", flush=True)
    exec(json.loads(script), {**globals(), "kernels": kernels})
    kernels.watch(__file__)
    print("--", flush=True)
"""


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """Starts a process that has imported torch and triton (for the interpreter) and runs the scripts that it is sent."""
    file = tmp_path_factory.mktemp("sentry") / "claim.py"
    file.write_text("import json, sys\n" + KERNEL + LOOP)
    env = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(SENTRY), "OMP_NUM_THREADS": "1"}
    begin = partial(subprocess.Popen, [sys.executable, str(file)], env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    started = []
    yield lambda: started.append(begin()) or started[-1]
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def process(start):
    return start()


@pytest.fixture
def run(process):
    """What a script prints."""
    return partial(told_by, process)


def told_by(process, script):
    process.stdin.write(json.dumps(textwrap.dedent(script)) + "\n")
    process.stdin.flush()
    return "".join(iter(process.stdout.readline, "--\n"))


def test_a_launch_is_noted_with_its_grid_and_the_memory_that_is_no_argument(run):
    told = run("""
        with kernels.call(False, [Given(x)]):
            out = torch.empty(5)
            copy[lambda meta: (triton.cdiv(5, meta["BLOCK"]),)](x, out, 5, BLOCK=4, MASKED=True)
        print(kernels.told(), out.tolist() == x.tolist())
    """)

    assert told.strip() == "[('copy', (2,), 20)] True"


def test_a_decoy_is_noted_and_does_nothing(run):
    told = run("""
        out = torch.full((5,), 7.0)
        with kernels.call(True, [Given(x)]):
            copy[(2,)](x, out, 5, 4, True)
        print(len(kernels.told()), out.tolist())
    """)

    assert told.strip() == "1 [7.0, 7.0, 7.0, 7.0, 7.0]"


EXCHANGED = """
class Held(Given):
    def overwrite(self, values):
        self.flat.copy_(values)

before, other = torch.arange(5.0), torch.full((5,), 7.0)
given = Held(before.clone())
seen = []
def grid(meta):
    seen.append(given.flat[0].item())
    return (2,)
def trace(*event):
    seen.append("traced")
with kernels.call(False, [given], None, [(given, before, other)]):
    out, empty = torch.empty(5), torch.empty(0)
    sys.setprofile(trace)
    copy[GRID](given.flat, out, 5, BLOCK=4, MASKED=True)
    sys.setprofile(None)
    seen = [what for what in seen if what != "traced"]
    print(seen, out.tolist(), given.flat.tolist() == before.tolist())
"""


@pytest.mark.parametrize(("grid", "seen"), [("(2,)", "[]"), ("[2]", "[]"), ("grid", "[0.0]")])
def test_the_kernel_alone_sees_the_values_that_were_sent_for_it(run, grid, seen):
    assert run("import sys" + EXCHANGED.replace("GRID", grid)).strip() == f"{seen} [7.0, 7.0, 7.0, 7.0, 7.0] True"


def test_a_kernel_whose_source_is_a_text_is_the_submissions_too(run):
    told = run("""
        import linecache
        text = "import triton, triton.language as tl\\n@triton.jit\\ndef one(x):\\n    tl.store(x, 1.0)\\n"
        linecache.cache["/text.py"] = (len(text), None, text.splitlines(keepends=True), "/text.py")
        exec(compile(text, "/text.py", "exec"), space := {"__name__": "text"})
        with kernels.call(False, []):
            space["one"][(1,)](torch.zeros(1))
        print(len(kernels.told()))
    """)

    assert told.strip() == "1"


TUNED = """
    tuned = triton.autotune(configs=[triton.Config({"BLOCK": n}) for n in (4, 8)], key=["n"])(copy)
    with kernels.call(False, [Given(x)]):
        out = torch.empty(5)
        tuned[lambda meta: (triton.cdiv(5, meta["BLOCK"]),)](x, out, 5, MASKED=True)
    print(kernels.told(), out.tolist() == x.tolist())
"""


def test_a_kernel_that_is_tuned_runs_in_the_interpreter_with_its_first_tiles(run):
    assert run(TUNED).strip() == "[('copy', (2,), 20)] True"


def test_launches_that_try_out_tiles_are_not_counted(start):
    told = told_by(start(), """
        def bench(self, *args, config, **meta):
            tried.append(config.kwargs["BLOCK"])
            self.fn.run(*args, **meta, **config.all_kwargs())
            return [1.0 / config.kwargs["BLOCK"]] * 3

        tried = []
        triton.runtime.autotuner.Autotuner._bench = bench
        kernels.watch_tuning(interpreted=False)
        """ + TUNED.replace("\n    ", "\n        ") + """
        print(tried)
    """)

    assert told.split("\n")[:2] == ["[('copy', (1,), 20)] True", "[4, 8]"]


def test_a_kernel_of_another_file_is_not_the_submissions(run):
    told = run("""
        kernels.watch("elsewhere.py")
        with kernels.call(False, [Given(x)]):
            copy[(2,)](x, torch.empty(5), 5, 4, True)
        print(kernels.told())
    """)

    assert told.strip() == "[]"


@pytest.mark.parametrize(("masked", "spilled"), [(True, "[]"), (False, "[(5,)]")])
def test_a_fence_shows_what_was_written_past_an_allocation(run, masked, spilled):
    told = run(f"""
        fence = sentry.fence()
        with fence:
            out = torch.empty(5)
            clean = bool(torch.isnan(out).all())
            copy[(2,)](x, out, 5, 4, {masked})
        print(clean, fence.spilled(), out.tolist() == x.tolist())
    """)

    assert told.strip() == f"True {spilled} True"


def test_a_fence_keeps_values_layouts_and_views(run):
    told = run("""
        y = torch.arange(24.0).reshape(2, 3, 4)
        with sentry.fence() as fence:
            made = [torch.zeros(2, 3), torch.full((2,), 3), y.transpose(1, 2).contiguous(), torch.empty_like(y.transpose(0, 2)), y.clone()]
            view = y.transpose(1, 2)
        print(made[0].sum().item(), made[1].tolist(), torch.equal(made[2], y.transpose(1, 2)), made[3].stride(), torch.equal(made[4], y))
        print(view.data_ptr() == y.data_ptr(), fence.spilled())
    """)

    assert told.split("\n")[:2] == ["0.0 [3, 3] True (1, 4, 12) True", "True []"]


def test_what_lies_at_a_pages_end_can_be_read_and_written(run):
    told = run("""
        held = sentry.at_page_end(np.arange(1030, dtype=np.float32))
        held[-1] += 1
        print(held.shape, held[0], held[-1])
    """)

    assert told.strip() == "(1030,) 0.0 1030.0"


def test_reading_past_a_pages_end_ends_the_process(start):
    doomed = start()
    doomed.communicate(json.dumps(textwrap.dedent("""
        flat = torch.from_numpy(sentry.at_page_end(np.arange(6, dtype=np.float32)))
        copy[(2,)](flat, torch.empty(8), 8, 4, True)
    """)) + "\n", timeout=120)

    assert doomed.returncode == -signal.SIGSEGV


def test_the_device_is_asked_for_its_high_water_mark(run):
    told = run("""
        class Allocator:
            level = peak = 100
            def synchronize(self): pass
            def reset_peak_memory_stats(self): self.peak = self.level
            def memory_allocated(self): return self.level
            def max_memory_allocated(self): return self.peak
        real, torch.cuda = torch.cuda, (allocator := Allocator())
        class OnDevice(Given):
            def __init__(self, flat):
                self.flat, self.device = flat, "cuda"
        allocator.peak = 900
        with kernels.call(False, [OnDevice(x)]):
            allocator.peak, allocator.level = 150, 120
        torch.cuda = real
        print(kernels.device_bytes)
    """)

    assert told.strip() == "50"


def test_what_was_worked_out_before_the_launch_shows_behind_a_fence(run):
    script = """
    @triton.jit
    def negate(x, out, n, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.store(out + i, -tl.load(out + i, mask=i < n, other=0.0), mask=i < n)

    kernels.watch()
    def honest(x, out):
        copy[(1,)](x, out, 5, BLOCK=8, MASKED=True)
    def before(x, out):
        out.copy_(-x)
        negate[(1,)](x, out, 5, BLOCK=8)
    told = []
    for work in (honest, before):
        for values in (torch.arange(5.0), torch.ones(5)):
            try:
                fence = sentry.fence()
                with kernels.call(False, [Given(values)], fence), fence:
                    work(values, torch.empty(5))
                told.append("ran")
            except Exception as error:
                told.append(type(error).__name__)
    print(json.dumps(told))
    """

    assert json.loads(run(script)) == ["ran", "ran", "ran", "WorkedOutBefore"]
