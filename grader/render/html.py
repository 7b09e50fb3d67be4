"""The pages of a batch: self-contained HTML, everything a candidate wrote escaped, nothing loaded from elsewhere, whole without JavaScript."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from typing import Any

import jinja2

from .text import tame

SCRIPT = """
for (const table of document.querySelectorAll("table[data-sortable]")) {
  table.tHead.querySelectorAll("th").forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button"; button.textContent = head.textContent; head.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      table.tHead.querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const value = row => { const cell = row.cells[column]; return cell.dataset.value ?? cell.textContent.trim(); };
      const rows = [...table.tBodies[0].rows].sort((a, b) => {
        const x = value(a), y = value(b), numbers = x !== "" && y !== "" && !isNaN(x) && !isNaN(y);
        return (numbers ? x - y : x.localeCompare(y)) * (up ? 1 : -1);
      });
      table.tBodies[0].append(...rows);
    });
  });
}
"""


@cache
def environment() -> jinja2.Environment:
    """Templates with escaping on for every one of them."""
    made = jinja2.Environment(loader=jinja2.PackageLoader("attngrade.render", "pages"), autoescape=True, undefined=jinja2.ChainableUndefined, trim_blocks=True)
    made.filters["tame"] = lambda text: tame(str(text or ""), lines=2000, width=4000)
    made.tests["search"] = lambda text, pattern: bool(re.search(pattern, str(text)))
    return made


def _page(template: str, **values: Any) -> str:
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    import markupsafe

    return environment().get_template(template).render(script=markupsafe.Markup(SCRIPT), script_hash=digest, **values)


def batch_page(title: str, view: dict[str, Any], pairs: list[Any], remarks: list[str]) -> str:
    """The page about a batch."""
    return _page("batch.html.j2", title=title, view=view, pairs=pairs, remarks=remarks)


def candidate_page(title: str, record: dict[str, Any], sources: dict[str, Any], answers: dict[str, Any], plan: Any) -> str:
    """The page about one candidate."""
    return _page("candidate.html.j2", title=f"{record['candidate']} · {title}", record=record, sources=sources, answers=answers, plan=plan)
