"""The magics in a real Jupyter kernel, as a notebook talks to it."""

from __future__ import annotations

import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from attngrade.catalog import builtin
from attngrade.render.cell import as_html
from attngrade.store import open_store
from attngrade.verdict import CheckResult, Evidence, Named, Outcome, Reason, Verdict, Word

jupyter_client = pytest.importorskip("jupyter_client")
pytest.importorskip("ipykernel")

TOP_LEFT = Path(__file__).parent.parent / "examples" / "top_left_mask.py"
SCRIPT = "<script>alert(1)</script>"


class Kernel:
    """A running kernel; ``run`` gives what a cell printed and what it displayed."""

    def __init__(self, home: str):
        self.manager = jupyter_client.KernelManager(kernel_name="python3")
        self.manager.start_kernel(env={**os.environ, "ATTNGRADE_HOME": home, "OMP_NUM_THREADS": "1"})
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=120)

    def run(self, code: str) -> tuple[str, dict[str, str]]:
        printed, displayed = [], {}

        def seen(message):
            content = message["content"]
            if message["msg_type"] == "stream":
                printed.append(content["text"])
            elif message["msg_type"] in ("execute_result", "display_data"):
                displayed.update(content["data"])
            elif message["msg_type"] == "error":
                printed.append("\n".join(content["traceback"]))

        self.client.execute_interactive(code, timeout=120, output_hook=seen)
        return "".join(printed), displayed

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=False)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def kernel(home):
    kernel = Kernel(str(home))
    try:
        assert kernel.run("%load_ext attngrade") == ("", {})
        yield kernel
    finally:
        kernel.close()


def cell(number: int, source: str) -> str:
    return f"%%attngrade {builtin().exercises[number - 1].id} --seed 3\n{source}"


def test_a_right_cell_passes(kernel):
    printed, shown = kernel.run(cell(1, builtin().exercises[0].solution.read_text()))

    assert printed == ""
    assert "passed" in shown["text/html"]
    assert "attngrade-passed" in shown["text/html"]
    assert "✓ exercise01" in shown["text/plain"]


def test_a_wrong_cell_names_the_mistake_first(kernel):
    _, shown = kernel.run(cell(3, TOP_LEFT.read_text()))

    html = shown["text/html"]
    assert "attngrade-failed" in html
    assert html.index("In <code>") < html.index("✗ <strong>")
    assert "%attngrade hint exercise03" in html


def test_the_cell_runs_in_the_jail_and_not_in_the_notebook(kernel):
    kernel.run("secret = 'notebook'")
    _, shown = kernel.run(cell(1, "import os\nprint('pid', os.getpid(), 'secret' in globals())\nhere = 5"))

    pid = re.search(r"pid (\d+) False", shown["text/html"])
    assert pid, shown["text/html"]
    assert kernel.run(f"import os; print(os.getpid() == {pid.group(1)}, 'here' in globals())")[0] == "False False\n"


def test_a_syntax_error_is_told_with_its_line(kernel):
    _, shown = kernel.run(cell(1, "x = 1\ndef broken(:\n    pass"))

    assert "2 | def broken(:" in shown["text/html"]


def test_what_the_code_prints_and_raises_is_escaped(kernel):
    _, shown = kernel.run(cell(1, f"print({SCRIPT!r})\ndef score_moments(*a, **k):\n    raise TypeError({SCRIPT!r})"))

    assert "<script" not in shown["text/html"]
    assert "&lt;script&gt;" in shown["text/html"]


def test_attempts_are_recorded_like_any_other(kernel, home):
    with open_store(home / "attngrade.db", writing=False) as store:
        assert store.passed("exercise01")


@pytest.mark.parametrize(
    ("code", "says"),
    [("%%attngrade\nx = 1", "%%attngrade EXERCISE"), ("%%attngrade exercise99\nx = 1", "not an exercise"), ("%%attngrade 3 --wrong\nx = 1", "--wrong"),
     ("%%attngrade 3 'open\nx = 1", "quotation"), ("%attngrade watch", "cell is checked when you run it"), ("%attngrade nonsense", "no command")],
)
def test_what_cannot_be_meant_gets_a_sentence_and_no_traceback(kernel, code, says):
    printed, shown = kernel.run(code)

    assert says.lower() in printed.lower()
    assert "Traceback" not in printed
    assert shown == {}


def test_the_line_magic_runs_a_command(kernel):
    assert kernel.run("%attngrade hint 3")[0].startswith("Hint ")
    assert "exercise06" in kernel.run("%attngrade list")[0]


def test_the_notebook_imports_no_torch_for_a_check(kernel):
    assert kernel.run("import sys; print('torch' in sys.modules)")[0] == "False\n"


def test_unloading_takes_the_magic_back_and_loading_brings_it(kernel):
    kernel.run("%unload_ext attngrade")
    assert "not found" in kernel.run("%%attngrade 1\nx = 1")[0]

    kernel.run("%load_ext attngrade")
    assert "attngrade-failed" in kernel.run(cell(1, "x = 1"))[1]["text/html"]


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = set()

    def handle_starttag(self, tag, attrs):
        self.seen |= {tag, *(name for name, _ in attrs)}


def test_every_text_of_a_verdict_is_escaped():
    seen = Evidence(case=SCRIPT, arguments=SCRIPT, got_at=SCRIPT, want_at=SCRIPT, note=SCRIPT, because=SCRIPT, raised=SCRIPT)
    check = CheckResult(SCRIPT, SCRIPT, Outcome.FAILED, 0, 1, message=SCRIPT, functions=(SCRIPT,), evidence=seen, reason=Reason.WRONG_RESULT)
    missing = CheckResult("m", SCRIPT, Outcome.FAILED, 0, 1, message=SCRIPT, functions=(SCRIPT,), reason=Reason.NOT_IMPLEMENTED)
    unseen = CheckResult("u", SCRIPT, Outcome.SKIPPED, 0, 1, message=f"Not verified here. {SCRIPT}")
    verdict = Verdict("exercise01", SCRIPT, Word.FAILED, Reason.WRONG_RESULT, SCRIPT, (check, check, check, missing, unseen), (Named("a", SCRIPT, SCRIPT),),
                      isolation_note=SCRIPT, output=SCRIPT, line=3, line_shown=SCRIPT)
    html = as_html(verdict)
    tags = Tags()
    tags.feed(html)

    assert "script" not in tags.seen
    assert html.count("&lt;script&gt;") >= 12


@pytest.mark.parametrize("word", list(Word))
def test_each_verdict_says_what_to_type_next(word):
    assert "%attngrade" in as_html(Verdict("exercise01", "Title", word))
