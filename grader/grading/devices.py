"""What grading on a device asks beyond grading on a CPU: that the host sees the device itself, and where a kernel is wrong, whether it is wrong there alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import AttngradeError, UsageProblem
from ..sandbox import gauge
from ..verdict import CheckResult, Outcome, Reason

if TYPE_CHECKING:
    from ..catalog import Exercise
    from . import Opening
    from .plugin import Grading
    from .variants import Variant

NODE = "/dev/nvidiactl"
THERE_ALONE = ("What is wrong shows on the GPU alone: in Triton's interpreter {it} passes. Look for a tail without a mask, two programs that write to one place, "
               "memory that nobody has written, and float32 products in TF32 (`input_precision=\"ieee\"`).")


class NoDevice(UsageProblem):
    """A device was asked for that isn't there."""


def seen() -> bool:
    """Whether this machine has a CUDA device, by what its kernel and its driver say; nothing that a submission or an environment says counts."""
    try:
        return stat.S_ISCHR(os.stat(NODE).st_mode) and (gauge.find() is not None or bool(gauge.cards()))
    except OSError:
        return False


def best_for(exercise: Exercise) -> str:
    """Where an exercise is checked if nobody says otherwise: on a device if it needs one and there is one."""
    return "cuda" if exercise.gpu and seen() else "cpu"


def require(device: str) -> None:
    """Raise NoDevice unless the host sees the device, so that no run elsewhere is ever taken for one on it."""
    if device == "cuda" and not seen():
        raise NoDevice("No CUDA device is to be seen here, so nothing can be checked on one. Leave `--device` out to run kernels in Triton's interpreter, "
                       "or run `attngrade doctor`.")


def beside_the_interpreter(variant: Variant, grading: Grading, opening: Callable[[], Opening], source: str, seed: int) -> None:
    """Run what failed on the device once more on the CPU, and where it passes there say so: the arithmetic is right then, and the reader knows where to look."""
    from . import run_checks

    failed = [result for result in grading.results.values() if _may_be_the_device(result)]
    functions = frozenset(function for result in failed for function in result.functions)
    if not functions or grading.load_error is not None:
        return
    workers = opening()
    try:
        there, _ = run_checks(variant.exercise, lambda: workers.load(source), seed, "cpu", only=functions, variant=variant)
    except AttngradeError:  # no second opinion then
        return
    finally:
        workers.close()
    for result in failed:
        if it := _passes(result, there.results):
            grading.results[result.id] = replace(result, message=f"{result.message} {THERE_ALONE.format(it=it)}")


def _may_be_the_device(result: CheckResult) -> bool:
    return result.outcome is Outcome.FAILED and not result.stretch and result.reason in (Reason.WRONG_RESULT, Reason.CRASH)


def _passes(result: CheckResult, there: dict[str, CheckResult]) -> str:
    """What passes in the interpreter: this check, or, where it can't run there, every one of the same functions; empty if it does not."""
    same = there.get(result.id)
    if same is not None and same.outcome is not Outcome.SKIPPED:
        return "this check" if same.outcome is Outcome.PASSED else ""
    others = [other for other in there.values() if set(other.functions) & set(result.functions) and other.outcome is not Outcome.SKIPPED]
    return "every check of this function that can run there" if others and all(other.outcome is Outcome.PASSED for other in others) else ""
