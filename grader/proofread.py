"""What can be seen of a pack without running it: every problem at once, each with its file and line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from .catalog import Exercise, Pack, files_of

STUB_LINES = 60
ADVICE = ("Example:", "Why:", "Look at:")
ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def unlisted_problems(root: Path) -> list[str]:
    """What can be said of a pack whose catalog can't be used: files that no Python reads, and questions."""
    homes = [root / part for part in ("exercises", "solutions", "checks", "misconceptions") if (root / part).exists()]
    return [*syntax_problems(homes), *question_problems(root / "questions")]


def exercise_problems(exercise: Exercise) -> list[str]:
    """What is wrong in one exercise's files."""
    told = [*_hints(exercise), *syntax_problems((exercise.stub, exercise.solution, *exercise.check_files, exercise.alternatives, *files_of(exercise.misconceptions)))]
    for path, reader in ((exercise.stub, _stub), (exercise.solution, _solution), *((path, _checks) for path in exercise.check_files)):
        if (tree := _parsed(path)) is not None:
            told += [f"{_shown(path)}:{line}: {text}" for line, text in reader(exercise, path, tree)]
    return told + list(_misconceptions(exercise))


def syntax_problems(places: Iterable[Path]) -> list[str]:
    """Files (or all files of folders) that no Python reads."""
    told = []
    for path in sorted(file for place in places for file in (place.rglob("*.py") if place.is_dir() else (place,))):
        try:
            ast.parse(path.read_bytes())
        except SyntaxError as error:
            told.append(f"{_shown(path)}:{error.lineno or 1}: {error.msg}")
        except (ValueError, OSError) as error:
            told.append(f"{_shown(path)}:1: {error}")
    return told


def question_problems(folder: Path) -> list[str]:
    """What the question linter finds in a pack's own questions."""
    if not any(folder.glob("*.yaml")):
        return []
    from .quiz.question import Bank

    return [f"questions/{problem}" for problem in Bank(folder).problems()]


def strays(pack: Pack) -> list[str]:
    """Files in a pack's homes that belong to no exercise."""
    known = {path for e in pack.exercises for path in (e.stub, e.solution, *e.check_files, *files_of(e.misconceptions))}
    found = [path for home, pattern in ((pack.exercises_dir, "*.py"), (pack.solutions_dir, "*.py"), (pack.checks_dir, "check_*.py"),
                                        (pack.misconceptions_dir, "*.py")) for path in sorted(home.glob(pattern))]
    homes = {e.alternatives for e in pack.exercises}
    folders = [path for path in sorted((pack.solutions_dir / "alternatives").glob("*")) if path.is_dir() and path not in homes and path.name != "__pycache__"]
    return [f"{_shown(path)}:1: belongs to no exercise of the catalog: add an entry, or remove the file" for path in (*found, *folders)
            if path not in known and path.name not in ("__init__.py", "reading.py")]


def unknown_questions(pack: Pack) -> list[str]:
    """Misconceptions whose question is neither one of the pack's nor one of the built-in bank's: nothing would come up in the quiz after them."""
    from .catalog import builtin
    from .misconceptions.reading import marked
    from .quiz.question import Bank

    known = {name for folder in (pack.questions_dir, builtin().questions_dir) for name in Bank(folder).ids}
    return [f"{_shown(path)}:{line}: misconception {item.id}: there is no question {item.question}; `attngrade questions` lists them"
            for exercise in pack.exercises for path in files_of(exercise.misconceptions) for line, item in marked(path) if item.question and item.question not in known]


# ---------------------------------------------------------------- one file


def _hints(exercise: Exercise) -> Iterator[str]:
    for number, hint in enumerate(exercise.hints, 1):
        if not 0 < len(hint) <= 600:
            yield f"exercises/catalog.yaml: {exercise.id}: hint {number} is empty or over 600 characters"


def _stub(exercise: Exercise, path: Path, tree: ast.Module) -> Iterator[tuple[int, str]]:
    lines = path.read_text(encoding="utf-8").count("\n")
    if lines > STUB_LINES:
        yield lines, f"{lines} lines; a stub fits on one screen ({STUB_LINES})"
    if f"attngrade check {exercise.id}" not in (ast.get_docstring(tree) or ""):
        yield 1, f"its docstring doesn't say how to check it (`attngrade check {exercise.id}`)"
    yield from _solution(exercise, path, tree)


def _solution(exercise: Exercise, path: Path, tree: ast.Module) -> Iterator[tuple[int, str]]:
    defined = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    defined |= {target.id for node in tree.body if isinstance(node, ast.Assign) for target in node.targets if isinstance(target, ast.Name)}
    yield from ((1, f"`{name}` of the catalog is not defined") for name in exercise.functions if name not in defined)


def _checks(exercise: Exercise, path: Path, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """A check has a title, points, and names functions of the exercise; the file imports no torch and no solution: it holds what a worker may not see."""
    for node in ast.walk(tree):
        for name in _imported(node):
            if name.partition(".")[0] == "torch" or ".solutions" in name:
                yield node.lineno, f"imports {name}; checks compute with NumPy from the formula"  # type: ignore[attr-defined]
    seen: set[str] = set()
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
            continue
        said = dict(_decorators(node))
        if node.name in seen:
            yield node.lineno, f"two checks are called {node.name}; the second hides the first"
        seen.add(node.name)
        if not ast.get_docstring(node):
            yield node.lineno, f"{node.name} has no docstring; its first line is the title that a learner reads"
        if not {"points", "stretch"} & set(said):
            yield node.lineno, f"{node.name} is worth nothing: give it @points(n) or @stretch(n)"
        yield from ((node.lineno, f"{node.name}: @of names `{name}`, which is none of the exercise's functions") for name in said.get("of", ()) if name not in exercise.functions)
    if not seen:
        yield 1, "holds no check: functions named test_... that take `submission`"


def _misconceptions(exercise: Exercise) -> Iterator[str]:
    from .misconceptions.reading import marked

    seen: dict[str, str] = {}
    for path in files_of(exercise.misconceptions):
        for line, item in marked(path):
            place = f"{_shown(path)}:{line}"
            missing = [part for part in ADVICE if part not in item.advice]
            if not ID.fullmatch(item.id):
                yield f"{place}: the id {item.id!r} is not of the form words-with-dashes"
            if item.id in seen:
                yield f"{place}: the id {item.id} is used in {seen[item.id]} too"
            if missing or not item.message:
                yield f"{place}: misconception {item.id}: its docstring lacks {', '.join(missing) or 'a first paragraph'}"
            if item.of not in exercise.functions:
                yield f"{place}: misconception {item.id}: `of` names {item.of or 'nothing'}, which is none of the exercise's functions"
            seen.setdefault(item.id, place)


def _parsed(path: Path) -> ast.Module | None:
    try:
        return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None


def _imported(node: ast.AST) -> Iterable[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


def _decorators(node: ast.FunctionDef) -> Iterator[tuple[str, list[str]]]:
    for call in node.decorator_list:
        bare = call.func if isinstance(call, ast.Call) else call
        if isinstance(bare, ast.Name):
            yield bare.id, [str(a.value) for a in call.args if isinstance(a, ast.Constant)] if isinstance(call, ast.Call) else []


def _shown(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"
