"""The one error class that a person sees: a sentence that says what was expected and what to do next.

AttngradeError        exit code 3: the grader could not do its work
├── UsageProblem      exit code 2: what was asked can't be meant
└── PackProblem       exit code 3: a catalog, pack or question file is broken; all problems at once
"""

from __future__ import annotations


class AttngradeError(Exception):
    """A problem with a sentence for the person in front of the screen."""

    exit_code = 3


class UsageProblem(AttngradeError):
    """What was asked for doesn't exist or can't be meant."""

    exit_code = 2


class PackProblem(AttngradeError):
    """A pack is broken; ``problems`` lists every fault found, with file and line."""

    def __init__(self, where: str, problems: list[str]):
        self.problems = problems
        super().__init__(f"{where} has {len(problems)} problem{'s' if len(problems) != 1 else ''}:\n" + "\n".join(f"  - {problem}" for problem in problems))
