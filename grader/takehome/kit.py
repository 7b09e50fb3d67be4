"""The candidate's folder: stubs, statement, questions, example checks that plain pytest runs, and a script that packs it all up. No answers."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from pathlib import Path

from ..catalog import Exercise, Pack
from ..errors import UsageProblem
from .plan import TakeHome

CANDIDATE = "candidate"
ANSWERS = "answers.yaml"

PACK_SCRIPT = '''"""Pack your work into one archive to send back: python pack.py YOUR_NAME"""

import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILES = {files!r}

if len(sys.argv) != 2 or not sys.argv[1].strip("./- "):
    raise SystemExit("Say who you are: python pack.py ada_lovelace")
name = "".join(c if c.isalnum() or c in "-_" else "_" for c in sys.argv[1].strip())
missing = [file for file in FILES if not (HERE / file).is_file()]
if missing:
    raise SystemExit(f"These files are missing: {{', '.join(missing)}}. Put them back (your kit has the originals).")
archive = HERE / f"{{name}}.zip"
with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
    for file in FILES:
        packed.write(HERE / file, f"{{name}}/{{file}}")
print(f"Wrote {{archive.name}} with {{len(FILES)}} files: send it back.")
'''


def build(plan: TakeHome, pack: Pack, prompts: dict[str, str]) -> Path:
    """Write ``candidate/`` anew from the plan; the old one is replaced only once the new one is whole. Raises UsageProblem."""
    target = plan.folder / CANDIDATE
    exercises = [pack.find(asked.id) for asked in plan.exercises]
    try:
        beside = Path(tempfile.mkdtemp(prefix=".candidate-", dir=plan.folder))
        _fill(beside, plan, exercises, prompts)
        beside.chmod(0o755)
        if target.exists():
            shutil.rmtree(target)
        beside.rename(target)
    except OSError as error:
        raise UsageProblem(f"{error.filename or target} can't be written ({error.strerror}).") from None
    return target


def _fill(folder: Path, plan: TakeHome, exercises: list[Exercise], prompts: dict[str, str]) -> None:
    work = [f"{exercise.module}.py" for exercise in exercises] + ([ANSWERS] if plan.questions else [])
    for exercise in exercises:
        (folder / f"{exercise.module}.py").write_text(for_candidates(exercise.stub.read_text(encoding="utf-8")), encoding="utf-8")
        example = exercise.stub.parent / "examples" / f"test_{exercise.id}.py"
        if example.is_file():
            shutil.copyfile(example, folder / example.name)
    if plan.questions:
        (folder / ANSWERS).write_text(answers_form([asked.id for asked in plan.questions], prompts), encoding="utf-8")
    (folder / "pack.py").write_text(PACK_SCRIPT.format(files=work), encoding="utf-8")
    (folder / "README.md").write_text(statement(plan, exercises, work), encoding="utf-8")
    files = sorted(path for path in folder.iterdir() if path.is_file())
    manifest = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    (folder / "manifest.json").write_text(json.dumps({"title": plan.title, "sha256": manifest}, indent=1) + "\n", encoding="utf-8")


def for_candidates(stub: str) -> str:
    """A stub without the lines that send a learner to commands that a candidate doesn't have."""
    return "".join(line for line in stub.splitlines(keepends=True) if "attngrade " not in line)


def answers_form(names: list[str], prompts: dict[str, str]) -> str:
    """A YAML file with a prompt as comment and an empty block for each answer."""
    lines = ["# Write each answer below its question, indented by two spaces. A few sentences are enough.\n"]
    for name in names:
        lines += ["", *(f"# {line}" for line in prompts[name].splitlines()), f"{name}: |", "  "]
    return "\n".join(lines) + "\n"


def statement(plan: TakeHome, exercises: list[Exercise], work: list[str]) -> str:
    """The candidate's README."""
    lines = [f"# {plan.title}", "", plan.instructions.strip(), ""]
    if plan.deadline:
        lines += [f"**Due:** {plan.deadline}", ""]
    lines += ["| file | what to do | weight |", "| --- | --- | --- |"]
    weights = {asked.id: asked.weight for asked in plan.exercises}
    lines += [f"| `{exercise.module}.py` | {exercise.title}: {exercise.promise} | {weights[exercise.id]:g} |" for exercise in exercises]
    if plan.questions:
        lines += [f"| `{ANSWERS}` | {len(plan.questions)} short questions | {sum(asked.weight for asked in plan.questions):g} |"]
    needs = "numpy" if all(e.framework == "numpy" for e in exercises) else "numpy and torch" + (", and triton for the kernel" if any(e.gpu for e in exercises) else "")
    lines += [
        "", "## Try it", "", f"You need Python 3.11 or later with {needs}, and pytest. In this folder:", "", "    python -m pytest", "",
        "runs a few examples for each file. They are examples, not the whole: your work is graded by many more checks, on sizes, dtypes and memory layouts "
        "that the statement at the top of each file allows. A result that is right is right however it is written.", "",
        "## Send it back", "", "    python pack.py your_name", "", f"writes `your_name.zip` with {', '.join(f'`{name}`' for name in work)}. Send that file.", "",
        "Your code is run in a sandbox without network, with a time and a memory limit. Calls that would hand over the answer are listed at the top of each file.",
    ]
    return "\n".join(lines) + "\n"
