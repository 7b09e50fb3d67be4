"""The report in a real browser: it loads, sorts, asks for nothing, and what a candidate wrote is only text."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil

import pytest
from attngrade.render.html import batch_page
from attngrade.takehome.batch import Task, fault
from attngrade.takehome.pages import as_csv, batch_view, plain_cell
from attngrade.takehome.similar import pairs

from tests.takehome.world import FILE, RIGHT, WRONG, attngrade

HOSTILE = "<img src=x onerror=alert(1)></textarea><script>alert(2)</script>"
RATIO = """
const lum = c => { const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => { x /= 255; return x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4; }); return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
const back = e => { for (; e; e = e.parentElement) { const b = getComputedStyle(e).backgroundColor; if (!/, 0\\)$/.test(b) && b !== "transparent") return b; } return "rgb(255, 255, 255)"; };
let worst = 99;
for (const e of document.querySelectorAll("h1,h2,p,td,th,a,code,summary,blockquote,span,mark,sup")) {
  if (!e.textContent.trim()) continue;
  const a = lum(getComputedStyle(e).color), b = lum(back(e));
  worst = Math.min(worst, (Math.max(a, b) + .05) / (Math.min(a, b) + .05));
}
return worst;
"""


@pytest.fixture(scope="module")
def report(kit, tmp_path_factory):
    """Pages about three candidates, one of them hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    for name, source, answer in (("ada", RIGHT, "the std is sqrt(d_k)"), ("<script>alert(3)</script>".replace("/", "\u2215"), WRONG, HOSTILE),
                                 ("=cmd()", RIGHT.replace("import numpy", f"print({HOSTILE!r})\nimport numpy", 1), "")):
        (folder / name).mkdir()
        (folder / name / FILE).write_text(source, encoding="utf-8")
        (folder / name / "answers.yaml").write_text(f"score-variance: |\n  {answer}\n", encoding="utf-8")
    attngrade("takehome", "grade", folder, "--kit", kit, "--results", folder.parent / "r", "--jobs", "1")
    attngrade("takehome", "report", kit, "--results", folder.parent / "r", "--output", folder.parent / "pages")
    return folder.parent / "pages"


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium with its console kept."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        pytest.skip("Chromium and its driver are not installed (scripts/system_packages.sh installs them as root)")
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync", "--disable-component-update"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(shutil.which("chromedriver"))))
    yield driver
    driver.quit()


def opened(browser, page):
    browser.get_log("browser"), browser.get_log("performance")
    browser.get(page.as_uri())
    return browser


def test_the_page_loads_without_an_error_or_a_request(browser, report):
    opened(browser, report / "index.html")
    asked = [json.loads(row["message"])["message"] for row in browser.get_log("performance")]

    urls = [event["params"]["request"]["url"] for event in asked if event["method"] == "Network.requestWillBeSent"]
    assert browser.get_log("browser") == [] and [url for url in urls if not url.startswith("file:")] == []
    assert len(urls) == 1


def test_a_click_on_a_heading_sorts_by_it(browser, report):
    opened(browser, report / "index.html")
    column = lambda: [float(cell.get_attribute("data-value")) for cell in browser.find_elements("css selector", "table tbody tr td:nth-child(2)")[:3]]  # noqa: E731
    button = browser.find_elements("css selector", "th button")[1]

    button.click()
    assert column() == sorted(column())
    button.click()
    assert column() == sorted(column(), reverse=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_enough_contrast(browser, report, scheme):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    for page in (report / "index.html", *sorted((report / "candidates").iterdir())):
        assert opened(browser, page).execute_script(RATIO) >= 4.5, page.name


def test_a_hostile_candidate_s_markup_is_inert(browser, report):
    for page in (report / "index.html", *sorted((report / "candidates").iterdir())):
        opened(browser, page)
        assert browser.find_elements("css selector", "img") == [] and len(browser.find_elements("css selector", "script")) == 1
        assert browser.get_log("browser") == []
    assert any("onerror=alert(1)" in page.read_text() for page in (report / "candidates").iterdir())


def test_without_javascript_everything_is_there(report):
    text = (report / "index.html").read_text(encoding="utf-8")

    assert text.count('<td><a href="candidates/') == 3 and "Distribution" in text


def test_csv_cells_are_no_formulas(report):
    rows = list(csv.reader(io.StringIO((report / "report.csv").read_text(encoding="utf-8"))))

    assert [row[0] for row in rows[1:]] == ["<script>alert(3)<∕script>", "'=cmd()", "ada"]
    assert plain_cell("@x") == "'@x" and plain_cell("-1+1") == "'-1+1" and plain_cell(-1.5) == -1.5


@pytest.mark.parametrize("name", ["Ada;=1+1;", "Ada\t=1+1", 'Ada;"="&1', "Ada; -2+3", " =1+1", '"="&1', "＝1+1", ";;@x"])
def test_no_cell_holds_a_formula_wherever_a_spreadsheet_parts_it(name):
    shown = plain_cell(name)

    assert not re.search(r'(^|[;\t])[ "]*[=+@＝-]', shown) and shown.replace("'", "") == name


def test_a_return_that_the_grader_failed_on_stands_under_the_columns_of_the_others():
    part = {"exercise": "exercise02", "verdict": "passed", "score": 1.0, "max_score": 1.0, "misconceptions": [], "checks": []}
    graded = {"candidate": "bob", "score": 1.0, "max_score": 1.0, "problem": "", "remarks": [], "exercises": [part], "answers": [{"question": "q", "score": 1.0}]}
    failed = json.loads(fault(Task("AAA", "AAA", None, None), TypeError("why")))

    rows = list(csv.reader(io.StringIO(as_csv([failed, graded]))))
    view = batch_view([failed, graded])

    assert as_csv([failed, graded]).startswith(as_csv([graded]).partition("\n")[0] + "\n") and {len(row) for row in rows} == {len(rows[0])}
    assert "TypeError: why" in rows[1][-1] and rows[1][3] == "error"
    assert view["exercises"] == ["exercise02"] and [len(row["exercises"]) for row in view["rows"]] == [1, 1]
    assert "error 0/0" in batch_page("T", view, [], [])


def test_overrides_change_the_score_and_survive_regrading(kit, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "ada.py").write_text(WRONG)
    grade = ("takehome", "grade", tmp_path / "in", "--kit", kit, "--results", tmp_path / "out", "--jobs", "1")
    report = ("takehome", "report", kit, "--results", tmp_path / "out", "--output", tmp_path / "pages")
    attngrade(*grade)
    (tmp_path / "out" / "overrides.yaml").write_text('ada:\n  exercise02: {score: 40, note: "agreed"}\nnobody: {exercise02: {score: 1}}\n')

    attngrade(*grade)
    told = attngrade(*report)
    result = json.loads((tmp_path / "pages" / "report.json").read_text())["results"][0]
    assert result["exercises"][0]["score"] == 40 and result["exercises"][0]["review"] == "agreed"
    assert "Wrote" in told


def test_a_renamed_and_reformatted_copy_is_found_and_honest_work_is_not():
    renamed = RIGHT.replace("exponentials", "zzz").replace("    ", "  ").replace("axis", "dimension")
    other = "import numpy as np\n\n\ndef softmax(z, axis=-1):\n" + "".join(f"    a{n} = z[{n}] * {n} + np.sin(z) - [{n}, {n}]\n" for n in range(40))

    found = pairs("exercise02", {"a": RIGHT, "b": renamed, "c": other}, stub="")
    assert [(pair.one, pair.other) for pair in found] == [("a", "b")] and found[0].share > 0.9
    assert pairs("exercise02", {"a": RIGHT, "b": RIGHT}, stub=RIGHT) == []


def test_an_empty_batch_has_a_view():
    assert batch_view([])["rows"] == [] and as_csv([]).startswith("candidate,")
