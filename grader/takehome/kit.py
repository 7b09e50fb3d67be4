"""The candidate's folder: stubs, statement, questions, example checks that plain pytest runs, and a script that packs it all up. No answers.

Where every candidate gets a kit of his own (``candidates/<name>/``), it is made from the team's secret and his id alone: the same bytes whenever it is made.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from pathlib import Path

from ..catalog import Exercise, Pack
from ..errors import PackProblem, UsageProblem
from ..grading.variants import Variant, conventions
from .candidates import safe_name
from .plan import TakeHome
from .variants import variant

CANDIDATE, CANDIDATES = "candidate", "candidates"
ANSWERS = "answers.yaml"

PACK_SCRIPT = '''"""Pack your work into one archive to send back: {command}"""

import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILES = {files!r}

{who}
missing = [file for file in FILES if not (HERE / file).is_file()]
if missing:
    raise SystemExit(f"These files are missing: {{', '.join(missing)}}. Put them back (your kit has the originals).")
archive = HERE / f"{{name}}.zip"
with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
    for file in FILES:
        packed.write(HERE / file, f"{{name}}/{{file}}")
print(f"Wrote {{archive.name}} with {{len(FILES)}} files: send it back.")
'''
WHO_ARE_YOU = '''if len(sys.argv) != 2 or not sys.argv[1].strip("./- "):
    raise SystemExit("Say who you are: python pack.py ada_lovelace")
name = "".join(c if c.isalnum() or c in "-_" else "_" for c in sys.argv[1].strip())'''


def build(plan: TakeHome, pack: Pack, prompts: dict[str, str]) -> Path:
    """Write ``candidate/`` anew from the plan; the old one is replaced only once the new one is whole. Raises UsageProblem."""
    return _written(plan, pack, prompts, plan.folder / CANDIDATE)


def build_for(plan: TakeHome, pack: Pack, prompts: dict[str, str], candidate: str) -> Path:
    """Write one candidate's own kit anew. Raises UsageProblem."""
    return _written(plan, pack, prompts, plan.folder / CANDIDATES / safe_name(candidate), candidate)


def discard(plan: TakeHome) -> None:
    """Take the kit for everybody away: where each candidate has his own, nobody may be sent that one."""
    shutil.rmtree(plan.folder / CANDIDATE, ignore_errors=True)


def _written(plan: TakeHome, pack: Pack, prompts: dict[str, str], target: Path, candidate: str = "") -> Path:
    asked = [variant(plan, candidate, pack.find(asked.id)) if candidate else Variant(pack.find(asked.id)) for asked in plan.exercises]
    try:
        target.parent.mkdir(exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=".candidate-", dir=target.parent))
        _fill(beside, plan, asked, prompts, candidate)
        beside.chmod(0o755)
        if target.exists():
            shutil.rmtree(target)
        beside.rename(target)
    except OSError as error:
        raise UsageProblem(f"{error.filename or target} can't be written ({error.strerror}).") from None
    return target


def _fill(folder: Path, plan: TakeHome, variants: list[Variant], prompts: dict[str, str], candidate: str) -> None:
    exercises = [variant.asked for variant in variants]
    work = [f"{exercise.module}.py" for exercise in exercises] + ([ANSWERS] if plan.questions else [])
    for own in variants:
        for name, text in _texts(own).items():
            (folder / name).write_text(text, encoding="utf-8")
    if plan.questions:
        (folder / ANSWERS).write_text(answers_form([asked.id for asked in plan.questions], prompts), encoding="utf-8")
    who = f"name = {safe_name(candidate)!r}  # this copy is yours: its conventions may differ from everybody else's" if candidate else WHO_ARE_YOU
    (folder / "pack.py").write_text(PACK_SCRIPT.format(files=work, who=who, command="python pack.py" if candidate else "python pack.py YOUR_NAME"), encoding="utf-8")
    (folder / "README.md").write_text(statement(plan, variants, work, candidate), encoding="utf-8")
    files = sorted(path for path in folder.iterdir() if path.is_file())
    manifest = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    told = {"title": plan.title, **({"candidate": candidate} if candidate else {}), "sha256": manifest}
    (folder / "manifest.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def _texts(own: Variant) -> dict[str, str]:
    """A candidate's stub and examples by name, in the words of his variant. Raises PackProblem where a sentence that should change isn't there."""
    exercise = own.asked
    stub, example = exercise.stub.read_text(encoding="utf-8"), exercise.stub.parent / "examples" / f"test_{exercise.id}.py"
    examples = example.read_text(encoding="utf-8") if example.is_file() else ""
    lost = [usual for convention in own.flipped for usual, _ in convention.texts if usual not in stub and usual not in examples]
    if lost:
        raise PackProblem(f"the conventions of {exercise.id}", [f"neither its stub nor its examples say {usual!r}" for usual in lost])
    told = {f"{exercise.module}.py": for_candidates(own.reworded(stub))}
    return told | ({example.name: own.reworded(examples)} if examples else {})


def for_candidates(stub: str) -> str:
    """A stub without the lines that send a learner to commands that a candidate doesn't have."""
    return "".join(line for line in stub.splitlines(keepends=True) if "attngrade " not in line)


def answers_form(names: list[str], prompts: dict[str, str]) -> str:
    """A YAML file with a prompt as comment and an empty block for each answer."""
    lines = ["# Write each answer below its question, indented by two spaces. A few sentences are enough.\n"]
    for name in names:
        lines += ["", *(f"# {line}" for line in prompts[name].splitlines()), f"{name}: |", "  "]
    return "\n".join(lines) + "\n"


def conventions_told(variants: list[Variant]) -> list[str]:
    """What a candidate has to know of his own conventions, line by line."""
    told = [f"- `{own.asked.module}.py`: {own.told}." for own in variants if conventions(own.asked)]
    if not told:
        return []
    return ["", "## Your conventions", "", "Masks, axes and logarithms are written in more than one way, and this copy has been given its own. What counts is what "
            "stands here and at the top of each file:", "", *told]


def statement(plan: TakeHome, variants: list[Variant], work: list[str], candidate: str = "") -> str:
    """The candidate's README."""
    exercises: list[Exercise] = [own.asked for own in variants]
    lines = [f"# {plan.title}", "", plan.instructions.strip(), ""]
    if plan.deadline:
        lines += [f"**Due:** {plan.deadline}", ""]
    lines += ["| file | what to do | weight |", "| --- | --- | --- |"]
    weights = {asked.id: asked.weight for asked in plan.exercises}
    lines += [f"| `{exercise.module}.py` | {exercise.title}: {exercise.promise} | {weights[exercise.id]:g} |" for exercise in exercises]
    if plan.questions:
        lines += [f"| `{ANSWERS}` | {len(plan.questions)} short questions | {sum(asked.weight for asked in plan.questions):g} |"]
    needs = "numpy" if all(e.framework == "numpy" for e in exercises) else "numpy and torch" + (", and triton for the kernel" if any(e.gpu for e in exercises) else "")
    lines += conventions_told(variants) if plan.variants else []
    command, archive = ("python pack.py", safe_name(candidate)) if candidate else ("python pack.py your_name", "your_name")
    lines += [
        "", "## Try it", "", f"You need Python 3.11 or later with {needs}, and pytest. In this folder:", "", "    python -m pytest", "",
        "runs a few examples for each file. They are examples, not the whole: your work is graded by many more checks, on sizes, dtypes and memory layouts "
        "that the statement at the top of each file allows. A result that is right is right however it is written.", "",
        "## Send it back", "", f"    {command}", "", f"writes `{archive}.zip` with {', '.join(f'`{name}`' for name in work)}. Send that file"
        f"{', under that name' if candidate else ''}.", "",
        "Your code is run in a sandbox without network, with a time and a memory limit. Calls that would hand over the answer are listed at the top of each file.",
    ]
    return "\n".join(lines) + "\n"
