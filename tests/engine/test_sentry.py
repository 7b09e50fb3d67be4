"""The worker's eye on Triton: launches, decoys, and what is handed over. The interpreter runs in another process."""

import json

import pytest


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
    def overwrite(self, values, unseen):
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
    print(seen, out.tolist(), given.flat.tolist() == before.tolist(), [left.tolist() == out.tolist() for left in kernels.left])
"""


@pytest.mark.parametrize(("grid", "seen"), [("(2,)", "[]"), ("[2]", "[]"), ("grid", "[0.0]")])
def test_the_kernel_alone_sees_the_values_that_were_sent_for_it(run, grid, seen):
    assert run("import sys" + EXCHANGED.replace("GRID", grid)).strip() == f"{seen} [7.0, 7.0, 7.0, 7.0, 7.0] True [True]"


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


def test_launches_that_try_out_tiles_are_not_counted(run_afresh):
    told = run_afresh("""
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
                put_up = fence.fence()
                with kernels.call(False, [Given(values)], put_up), put_up:
                    work(values, torch.empty(5))
                told.append("ran")
            except Exception as error:
                told.append(type(error).__name__)
    print(json.dumps(told))
    """

    assert json.loads(run(script)) == ["ran", "ran", "ran", "WorkedOutBefore"]
