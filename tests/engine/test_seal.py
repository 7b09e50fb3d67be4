"""Quiet round a kernel: what runs it is what was loaded, and nothing of the submission's runs beside it. In another process, with the interpreter."""

import pytest

LAUNCHED = """
class Held(Given):
    def overwrite(self, values, unseen):
        self.flat.copy_(values)

before, other, heard = torch.arange(5.0), torch.full((5,), 7.0), []
given = Held(before.clone())
def hear(*event):
    heard.append(given.flat[0].item())
def launched():
    out = torch.zeros(5)
    with kernels.call(False, [given], None, [(given, before, other)]):
        copy[(2,)](given.flat, out, 5, BLOCK=4, MASKED=True)
    return out.tolist()
"""
TAMPERED = """
try:
    launched()
except Exception as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize(("change", "back"), [
    ("was, np.matmul = np.matmul, hear", "np.matmul = was"),
    ("torch.Tensor.cpu = hear", "del torch.Tensor.cpu"),
    ("inner.interpreter_builder.create_masked_store = hear", "del inner.interpreter_builder.create_masked_store"),
    ("was = inner.InterpreterBuilder.create_masked_store.__code__; inner.InterpreterBuilder.create_masked_store.__code__ = hear.__code__",
     "inner.InterpreterBuilder.create_masked_store.__code__ = was"),
    ("tl.tensor.answer = hear", "del tl.tensor.answer"),
])
def test_a_kernel_runs_in_no_library_that_was_changed(run, change, back):
    told = run(f"import numpy as np, triton.runtime.interpreter as inner\n{LAUNCHED}\n{change}\n{TAMPERED}\n{back}\nprint(launched(), heard)")

    assert told.split("\n")[:2] == ["Tampered", "[7.0, 7.0, 7.0, 7.0, 7.0] []"]


def test_no_kernel_runs_beside_a_thread(run):
    told = run(f"import threading\n{LAUNCHED}\nend = threading.Event()\nthread = threading.Thread(target=end.wait)\nthread.start()\n{TAMPERED}\n"
               "end.set()\nthread.join()\nprint(launched())")

    assert told.split("\n")[:2] == ["Tampered", "[7.0, 7.0, 7.0, 7.0, 7.0]"]


@pytest.mark.parametrize("calling_back", [
    "import gc\ngc.callbacks.append(hear)\ngc.set_threshold(1)", "import sys\nsys.setprofile(hear)", "import sys\nsys.settrace(hear)",
    "import signal\nsignal.signal(signal.SIGALRM, hear)\nsignal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)",
])
def test_nobody_hears_what_stands_in_the_inputs_while_a_kernel_runs(run, calling_back):
    told = run(f"{LAUNCHED}\n{calling_back}\nout = launched()\nimport gc, signal, sys\ngc.callbacks.clear(); gc.set_threshold(700); sys.setprofile(None); sys.settrace(None)\n"
               "signal.setitimer(signal.ITIMER_REAL, 0)\nprint(out, 7.0 in heard)")

    assert told.strip() == "[7.0, 7.0, 7.0, 7.0, 7.0] False"


def test_what_a_kernel_prints_comes_out_afterwards(run):
    told = run("""
        @triton.jit
        def loud(x):
            print("from the kernel")
            tl.store(x, 1.0)

        loud[(1,)](x)
        print("after it")
    """)

    assert told.split("\n")[:2] == ["from the kernel", "after it"]
