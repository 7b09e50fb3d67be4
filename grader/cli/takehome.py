"""``attngrade takehome``: make a kit, grade what comes back, make the pages about it."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import AttngradeError, UsageProblem
from .plain import say

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ..catalog import Pack
    from ..takehome.batch import Task
    from ..takehome.plan import TakeHome

PACK = click.option("--pack", type=click.Path(path_type=Path, file_okay=False), help="Use the exercise set in this folder.")
TRIES = 3


def named_candidates(command: Any) -> Any:
    """The options that name candidates."""
    for option in (
        click.option("--candidates", "candidates_file", type=click.Path(path_type=Path, dir_okay=False, exists=True), help="A file with a candidate's id on each line."),
        click.option("--candidate", "candidates", multiple=True, metavar="ID", help="Make a kit of his own for this candidate (repeat it)."),
    ):
        command = option(command)
    return command


@click.group("takehome", epilog="Example: attngrade takehome new interview --exercise 2 --exercise 3 --question score-variance")
def takehome() -> None:
    """Take-homes: a kit for candidates, a folder of returns graded, pages about them."""


@takehome.command("new", epilog="Example: attngrade takehome new interview --exercise 2 --exercise 3 --question score-variance")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--exercise", "exercises", multiple=True, metavar="EXERCISE", help="An exercise to ask (repeat it; default: 02 and 03).")
@click.option("--question", "questions", multiple=True, metavar="QUESTION", help="A question to ask (repeat it; default: the rapid-fire eight).")
@click.option("--title", default="Attention take-home", show_default=True)
@click.option("--deadline", default="", help="Shown to candidates, e.g. 2026-12-15.")
@click.option("--variants", is_flag=True, help="Give each candidate conventions of his own, so that a neighbour's file fails (needs candidates).")
@named_candidates
@PACK
def new(folder: Path, exercises: tuple[str, ...], questions: tuple[str, ...], title: str, deadline: str, variants: bool, candidates: tuple[str, ...],
        candidates_file: Path | None, pack: Path | None) -> None:
    """Start a take-home in FOLDER: takehome.yaml to edit, a secret, and candidate/ to send (or candidates/, a kit for each)."""
    from ..catalog import open_pack
    from ..takehome.plan import write_plan

    found = open_pack(pack)
    prompts = _prompts(found)
    chosen = [found.find(name) for name in exercises] or [e for e in found.exercises if not e.gpu][1:3] or list(found.exercises[:1])
    asked = list(questions or ([name for name in prompts if name in RAPID] if pack is None else []))
    for name in asked:
        if name not in prompts:
            raise UsageProblem(f"{name!r} is not a question of this set. `attngrade questions` lists them.")
    path = write_plan(folder, title, chosen, asked, deadline, variants)
    told = _build(folder, found, prompts, _named(candidates, candidates_file))
    say(f"Wrote {path} (edit it, then `attngrade takehome build {folder}`) and {told}.")
    say(f"Keep {folder / 'secret.key'} to yourself: the hidden inputs come from it.\nGrade what comes back: "
        f"attngrade takehome grade RETURNS --kit {folder}")


RAPID = ("score-variance", "softmax-jacobian", "unlearnable", "forward-scale", "mup-scale", "qk-norm", "single-head-average", "causal-mask-place")


@takehome.command("build", epilog="Example: attngrade takehome build interview --candidate ada_lovelace")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@named_candidates
@PACK
def build(folder: Path, candidates: tuple[str, ...], candidates_file: Path | None, pack: Path | None) -> None:
    """Write candidate/ anew after takehome.yaml was edited, or a kit for each candidate: the same bytes again for the same secret."""
    from ..catalog import open_pack

    found = open_pack(pack)
    say(f"Wrote {_build(folder, found, _prompts(found), _named(candidates, candidates_file))}.")


def _named(candidates: tuple[str, ...], file: Path | None) -> tuple[str, ...]:
    from ..takehome.candidates import listed

    return (*candidates, *(listed(file) if file else ()))


def _build(folder: Path, pack: Pack, prompts: dict[str, str], named: tuple[str, ...]) -> str:
    """Write what is to be sent, and say in a few words what that is."""
    from ..takehome import kit
    from ..takehome.candidates import add_candidates, read_candidates
    from ..takehome.plan import read_plan
    from ..takehome.variants import how_many

    plan = read_plan(folder, pack, frozenset(prompts))
    known = add_candidates(folder, named) if named else read_candidates(folder)
    if not known and plan.variants:
        kit.discard(plan)
        return f"no kit yet: with variants each candidate has his own (attngrade takehome build {folder} --candidate ID)"
    if not known:
        return f"{kit.build(plan, pack, prompts)} (send this folder)"
    kit.discard(plan)
    for candidate in known:
        kit.build_for(plan, pack, prompts, candidate)
    kinds = f", {how_many(plan, pack)} variants in all" if plan.variants else ""
    return f"{folder / kit.CANDIDATES}: a kit for each of {len(known)} candidates{kinds} (send each his own)"


def _prompts(pack: Pack) -> dict[str, str]:
    from ..quiz.question import load_bank

    if not any(pack.questions_dir.glob("*.yaml")):
        return {}
    bank = load_bank(pack.questions_dir)
    return {question.id: question.prompt for question in bank.questions}


@takehome.command("grade", epilog="Example: attngrade takehome grade returns/ --kit interview --jobs 2")
@click.argument("submissions", type=click.Path(path_type=Path, exists=True))
@click.option("--kit", required=True, type=click.Path(path_type=Path, file_okay=False), help="The folder with takehome.yaml.")
@click.option("--results", type=click.Path(path_type=Path, file_okay=False), help="Where results go (default: results/ in the kit).")
@click.option("--jobs", type=click.IntRange(min=1), default=None, help="Returns graded at once (default: the number of cores).")
@click.option("--cluster", metavar="tcp://HOST:PORT", help="Grade on a Dask cluster instead (needs the `cluster` extra).")
@click.option("--isolation", type=click.Choice(["auto", "bubblewrap", "process"]), default="auto", show_default=True)
@click.option("--trust-submissions", is_flag=True, help="With --isolation process: run strangers' code without a jail.")
@PACK
def grade(submissions: Path, kit: Path, results: Path | None, jobs: int | None, cluster: str | None, isolation: str, trust_submissions: bool,
          pack: Path | None) -> int:
    """Grade a folder of returns (folders, zip, tar.gz, git clones, single files). Stop it whenever you like: it goes on where it was."""
    from ..catalog import open_pack
    from ..doctor.posix import need_workers
    from ..takehome.batch import Task
    from ..takehome.candidates import read_candidates, safe_name
    from ..takehome.plan import read_plan
    from ..takehome.returns import candidates, listed
    from ..takehome.variants import with_kin

    need_workers()
    jail = required_jail(isolation, trust_submissions)
    found = open_pack(pack)
    plan = read_plan(kit, found, frozenset(_prompts(found)))
    entries = listed(submissions) if submissions.is_dir() else [submissions]
    if not entries:
        raise UsageProblem(f"{submissions} is empty: it should hold one folder or archive for each candidate.")
    folder = str(pack.resolve()) if pack else None
    known = {safe_name(name).casefold(): name for name in read_candidates(kit)}
    tasks = [_task(Task(name, str(path.resolve() if not path.is_symlink() else path.absolute()), plan, folder, jail), known) for name, path in candidates(entries).items()]
    gpu = any(found.find(asked.id).gpu for asked in plan.exercises)
    graded = _run(tasks, results or kit / "results", jobs or os.cpu_count() or 1, cluster, gpu)
    lost = [told for told in graded if told.get("fault")]
    _summary(with_kin(graded, plan, found, read_candidates(kit)), results or kit / "results")
    if lost:
        raise AttngradeError(f"{len(lost)} of {len(graded)} returns could not be graded: {lost[0]['problem']} Run the same command again.")
    return 0


def _task(task: Task, known: dict[str, str]) -> Task:
    """The task with the id of the kit that the return belongs to, found by the return's name."""
    from ..takehome.candidates import safe_name
    from ..takehome.returns import candidate_name

    owner = known.get(safe_name(candidate_name(Path(task.path))).casefold())
    return replace(task, kit=owner or "", known=owner is not None or not task.plan.variants)


def required_jail(isolation: str, trusted: bool) -> str:
    """The isolation to grade strangers' code with. Raises AttngradeError (exit 3) where there is no real jail and nobody said to trust them."""
    from ..sandbox import jail

    if isolation == "process":
        if not trusted:
            raise AttngradeError("--isolation process runs strangers' code on this machine without a jail. If you trust every one of them, add "
                                 "--trust-submissions; otherwise install bubblewrap (apt-get install bubblewrap).")
        return "process"
    if not jail.bubblewrap():
        raise AttngradeError("Grading other people's code needs a real jail and bubblewrap is not installed: apt-get install bubblewrap (or dnf, pacman). "
                             "`attngrade doctor` tells more. Without one: --isolation process --trust-submissions.")
    return "bubblewrap"


def _run(tasks: list[Task], results: Path, jobs: int, cluster: str | None, gpu: bool) -> list[dict[str, Any]]:
    """Run the batch; a pool that breaks (a worker process was killed) is replaced, and what was graded stays graded."""
    from ..takehome.batch import run

    graded: list[dict[str, Any]] = []
    for _ in range(TRIES):
        bar = Bar(len(tasks))
        with _executor(jobs, cluster, gpu) as executor:
            graded = run(executor, tasks, results, jobs, bar.step)
        bar.end()
        if not any(told.get("fault") for told in graded):
            break
    return graded


def _has_gpu(client: Any) -> bool:
    """Whether a worker of the cluster was started with --resources "GPU=1"; only then a GPU is asked for (else the batch would wait for ever)."""
    return any(worker.get("resources", {}).get("GPU") for worker in client.scheduler_info(n_workers=-1)["workers"].values())


@contextlib.contextmanager
def _executor(jobs: int, cluster: str | None, gpu: bool) -> Iterator[Executor]:
    if cluster is None:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            yield pool
        return
    try:
        from distributed import Client
    except ImportError:
        raise AttngradeError("--cluster needs Dask distributed: pip install 'attngrade[cluster]'") from None
    try:
        with Client(cluster, timeout=15) as client:
            wants = {"resources": {"GPU": 1}} if gpu and _has_gpu(client) else {}
            yield client.get_executor(retries=2, pure=False, **wants)
    except (OSError, ValueError) as error:  # an address that isn't one is a ValueError
        raise AttngradeError(f"There is no Dask scheduler at {cluster} ({error}). Start one with `dask scheduler`, and workers with `dask worker {cluster}`.") from None


class Bar:
    """Progress on standard error: how many, how fast, how long still. Only where somebody looks."""

    def __init__(self, total: int):
        self.total, self.done, self.fresh, self.started = total, 0, 0, time.monotonic()
        self.shown = sys.stderr.isatty()

    def step(self, told: dict[str, Any], fresh: bool) -> None:
        """One more is done."""
        self.done += 1
        self.fresh += fresh
        seconds = max(time.monotonic() - self.started, 1e-6)
        rate = self.fresh / seconds
        if self.shown:
            left = f", {(self.total - self.done) / rate:.0f} s left" if rate and self.fresh > 1 else ""
            click.echo(f"\r\x1b[K{self.done}/{self.total} graded, {60 * rate:.0f} a minute{left}", nl=False, err=True)

    def end(self) -> None:
        """The last line."""
        seconds = time.monotonic() - self.started
        kept = self.done - self.fresh
        rate = f", {60 * self.fresh / seconds:.0f} a minute" if self.fresh else ""
        click.echo(("\r\x1b[K" if self.shown else "") + f"{self.fresh} graded in {seconds:.1f} s{rate}" + (f"; {kept} unchanged since the last run" if kept else ""), err=True)


def _summary(graded: list[dict[str, Any]], results: Path) -> None:
    from ..render.text import tame

    click.echo(f"{'candidate':<28} {'points':>12}  exercises")
    for told in graded:
        words = " ".join(f"{part['exercise'].removeprefix('exercise')}:{part['verdict']}" for part in told["exercises"])
        click.echo(f"{tame(told['candidate'], lines=1)[:28]:<28} {told['score']:>5.2f}/{told['max_score']:<5.2f}  {words}")
        for remark in [told["problem"], *told["remarks"]]:
            if remark:
                click.echo(f"    {tame(remark, lines=1, width=600)}")
    click.echo(f"\nResults: {results / 'results.jsonl'}. Pages: attngrade takehome report {results.parent}")


@takehome.command("report", epilog="Example: attngrade takehome report interview")
@click.argument("kit", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option("--results", type=click.Path(path_type=Path, file_okay=False), help="Where the results are (default: results/ in the kit).")
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), help="Where the pages go (default: report/ in the kit).")
@PACK
def report(kit: Path, results: Path | None, output: Path | None, pack: Path | None) -> None:
    """Pages about the batch and each candidate, and the same as CSV and JSON. Reviewers' overrides.yaml is taken in."""
    import json

    from ..catalog import open_pack
    from ..takehome import review
    from ..takehome.candidates import read_candidates
    from ..takehome.pages import as_csv, batch_view
    from ..takehome.plan import read_plan
    from ..takehome.similar import pairs
    from ..takehome.variants import with_kin

    found = open_pack(pack)
    plan = read_plan(kit, found, frozenset(_prompts(found)))
    folder = results or kit / "results"
    records, remarks = review.reviewed_batch(kit, results)
    records = with_kin(records, plan, found, read_candidates(kit))
    alike = [pair for asked in plan.exercises for pair in pairs(asked.id, _sources(records, asked.id), found.find(asked.id).stub.read_text(encoding="utf-8"))]
    target = output or kit / "report"
    _write_pages(target, plan, records, alike, remarks, batch_view(records))
    _write(target / "report.csv", as_csv(records))
    _write(target / "report.json", json.dumps({"schema_version": 1, "title": plan.title, "results": records}, indent=1))
    if not (folder / review.NAME).exists():
        _write(folder / review.NAME, review.EXAMPLE)
    for remark in remarks:
        click.echo(f"Note: {remark}", err=True)
    say(f"Wrote {target / 'index.html'}, a page for each of {len(records)} candidates, report.csv and report.json.")


def _sources(records: list[dict[str, Any]], exercise: str) -> dict[str, str]:
    return {told["candidate"]: part["source"] for told in records for part in told["exercises"] if part["exercise"] == exercise and part.get("source")}


def _write_pages(target: Path, plan: TakeHome, records: list[dict[str, Any]], alike: list[Any], remarks: list[str], view: dict[str, Any]) -> None:
    from ..render.html import batch_page, candidate_page
    from ..takehome.pages import answer_view, source_view

    _write(target / "index.html", batch_page(plan.title, view, alike, remarks))
    for row in view["rows"]:
        sources = {part["exercise"]: source_view(part) for part in row["exercises"]}
        answers = {answer["question"]: answer_view(answer) for answer in row["answers"]}
        _write(target / row["page"], candidate_page(plan.title, row, sources, answers, plan))


def _write(path: Path, text: str) -> None:
    from ..workspace import write_beside

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_beside(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise UsageProblem(f"{path} can't be written ({error.strerror}). Choose another --output.") from None


COMMANDS = [takehome]
