"""What a driver and a compiler need of a jail is there for a worker on a device, and for no other; tried without a device."""

from __future__ import annotations

import os
import shutil

import pytest
from attngrade.sandbox import jail
from attngrade.sandbox.confine import landlock_version
from attngrade.sandbox.host import Worker, raise_if_raised
from attngrade.sandbox.proxy import Submission

SOURCE = """
import os, subprocess, threading

def tries(work):
    try:
        work()
    except OSError as error:
        return type(error).__name__
    return "done"

def name_a_thread():
    told = []
    def work():
        told.append(tries(lambda: open(f"/proc/self/task/{threading.get_native_id()}/comm", "w").write("cuda-EvtHandlr")))
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return told[0]

def be_quiet():
    return tries(lambda: subprocess.run(["/bin/true"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

def read(paths):
    return [tries(lambda: open(path).read()) for path in paths]

def keep(text):
    return tries(lambda: open(os.environ["TRITON_CACHE_DIR"] + ".txt", "w").write(text))

def read_the_host():
    return tries(lambda: open("PLACE").read())
"""


KERNEL = """
import torch, triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.build import compile_module_from_src

@triton.jit
def add(x, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)

def compiled():
    source = ASTSource(fn=add, signature={"x": "*fp32", "n": "i32", "N": "constexpr"}, constexprs={(2,): 64})
    return len(triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["cubin"]) > 1000

def launcher():
    text = '#include <Python.h>\\nstatic struct PyModuleDef m = {PyModuleDef_HEAD_INIT, "zz", NULL, -1, NULL}; PyMODINIT_FUNC PyInit_zz(void) { return PyModule_Create(&m); }'
    return compile_module_from_src(text, "zz").__name__
"""


@pytest.fixture(params=["bubblewrap", "process"])
def jailed(request, tmp_path):
    """``jailed(device)``: a loaded worker of a plan for this device."""
    if request.param == "bubblewrap" and not jail.bubblewrap():
        pytest.skip("bubblewrap is not installed")
    if request.param == "process" and landlock_version() < 1:
        pytest.skip("this kernel has no Landlock")
    secret = tmp_path / "secret"
    secret.write_text("41")
    workers = []

    def start(device, source=SOURCE, imports=("numpy",)):
        workers.append(Worker(jail.Plan(imports, imports[0], device), request.param))
        reply = workers[-1].ask({"op": "load", "module": "claims", "source": source.replace("PLACE", str(secret)), "modules": [], "names": [], "paths": []})
        raise_if_raised(reply, "")
        return Submission(workers[-1], reply["defines"])

    yield start
    for worker in workers:
        worker.close()


def test_threads_can_be_named_and_programs_started_for_a_device_and_the_host_stays_hidden(jailed):
    submission = jailed("cuda")

    assert [submission.name_a_thread(), submission.be_quiet(), submission.keep("compiled")] == ["done"] * 3
    facts = [path for path in ("/proc/devices", "/proc/modules", "/proc/self/status", "/sys/devices/system/node/possible") if os.path.exists(path)]
    assert submission.read(facts) == ["done"] * len(facts)
    assert submission.read_the_host() in ("FileNotFoundError", "PermissionError")


def test_a_kernel_and_its_launcher_are_compiled_in_a_jail_for_a_device(jailed):
    submission = jailed("cuda", KERNEL, ("torch", "triton"))

    assert submission.compiled() and (shutil.which("cc") is None or submission.launcher() == "zz")


def test_a_worker_on_the_cpu_has_none_of_that(jailed):
    submission = jailed("cpu")

    assert "done" not in (submission.name_a_thread(), submission.be_quiet(), submission.read_the_host())


def test_a_jail_shows_the_drivers_nodes_and_facts_for_a_device_alone(monkeypatch):
    monkeypatch.setattr(jail, "there", lambda *patterns: [pattern.replace("*", "0") for pattern in patterns])

    on, off = (" ".join(jail._mounts(jail.Plan(device=device))) for device in ("cuda", "cpu"))

    for shown in ("--dev-bind-try /dev/nvidia0 /dev/nvidia0", "--ro-bind-try /sys/module/nvidia0", "--ro-bind-try /sys/bus/pci"):
        assert shown in on and shown not in off
    assert "--remount-ro /proc" in off and "--remount-ro /proc" not in on and "--remount-ro /dev" in on
