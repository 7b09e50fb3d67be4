"""What a pack's authors write with to say how calls read in another convention (see grader/README.md, "Conventions that flip").

Hidden checks ask and compare in the usual convention. On the host, between proxy and worker, a rule exchanges the arrays that carry the
convention: arguments on their way out, results on their way home, cotangents and gradients by the transposed map. Every change keeps shape,
dtype and memory layout and can be undone, so refusals, tolerances and what is measured stay what they were. Whatever a change doesn't fit
(a number where an array was asked, a width that doesn't divide) passes as it is, and fails or is refused as it would have been.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from ..sandbox.wire import Array

RESULT = "return"  # a rule's key for what comes back
Given = Mapping[str, Any]
Rule = Callable[[Given], "Mapping[str, Change]"]
R = TypeVar("R", bound=Rule)


def reads(convention: str, of: str) -> Callable[[R], R]:
    """A rule: ``rule(given) -> {argument or "return": change}`` for calls of the function ``of``, given its arguments by name."""

    def put(rule: R) -> R:
        rule.attngrade_reads = (*getattr(rule, "attngrade_reads", ()), (convention, of))  # type: ignore[attr-defined]
        return rule

    return put


class Change:
    """A bijection between the usual convention and the other one. Where it isn't linear and orthogonal, all four ways are written out."""

    def out(self, value: Any) -> Any:
        """From the usual convention to the candidate's."""
        return value

    def home(self, value: Any) -> Any:
        """From the candidate's convention to the usual one."""
        return value

    def cotangent_out(self, value: Any) -> Any:
        """The transposed of ``home``: the cotangent of a result."""
        return self.out(value)

    def gradient_home(self, value: Any) -> Any:
        """The transposed of ``out``: the gradient of an argument."""
        return self.home(value)


class Opposite(Change):
    """True for False in boolean arrays; anything else means what it meant."""

    def out(self, value: Any) -> Any:
        """The opposite."""
        return replace(value, data=~value.data) if isinstance(value, Array) and value.dtype == "bool" else value

    home = out


@dataclass(frozen=True)
class Times(Change):
    """The usual number is ``factor`` times the other one."""

    factor: float

    def home(self, value: Any) -> Any:
        """Times the factor."""
        return scaled(value, self.factor)

    def out(self, value: Any) -> Any:
        """Divided by it."""
        return scaled(value, 1 / self.factor)

    cotangent_out, gradient_home = home, out


def scaled(value: Any, factor: float) -> Any:
    """A float, or an array of floats in its own dtype, times a factor; anything else as it is."""
    if type(value) in (int, float):
        return value * factor
    if not isinstance(value, Array) or value.data.dtype.kind != "f":
        return value
    with np.errstate(all="ignore"):
        return replace(value, data=(value.data.astype(np.float64) * factor).astype(value.data.dtype))


@dataclass(frozen=True)
class Interleaved(Change):
    """Along ``axis`` the usual order is head after head, (H, Dh); the other one deals columns out to heads in turn, (Dh, H)."""

    axis: int
    heads: Any

    def out(self, value: Any) -> Any:
        """(H, Dh) to (Dh, H)."""
        return self._dealt(value, by_head=True)

    def home(self, value: Any) -> Any:
        """(Dh, H) to (H, Dh)."""
        return self._dealt(value, by_head=False)

    def _dealt(self, value: Any, *, by_head: bool) -> Any:
        if not isinstance(value, Array) or type(self.heads) is not int or self.heads < 1 or value.data.ndim < abs(self.axis):
            return value
        width = value.data.shape[self.axis]
        if width % self.heads:
            return value
        split = (self.heads, width // self.heads) if by_head else (width // self.heads, self.heads)
        return replace(value, data=np.take(value.data, np.arange(width).reshape(split).T.reshape(-1), axis=self.axis))


@dataclass(frozen=True)
class At(Change):
    """A change of one part of a tuple."""

    place: int
    change: Change

    def _part(self, value: Any, way: Callable[[Any], Any]) -> Any:
        if not isinstance(value, (tuple, list)) or len(value) <= self.place:
            return value
        return type(value)(way(part) if place == self.place else part for place, part in enumerate(value))

    def out(self, value: Any) -> Any:
        """That part, out."""
        return self._part(value, self.change.out)

    def home(self, value: Any) -> Any:
        """That part, home."""
        return self._part(value, self.change.home)

    def cotangent_out(self, value: Any) -> Any:
        """That part's cotangent."""
        return self._part(value, self.change.cotangent_out)


opposite = Opposite()
negative = Times(-1.0)
