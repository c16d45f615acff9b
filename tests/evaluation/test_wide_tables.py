"""Tables wider than the page: on a screen they scroll and say so, on paper every column is there."""

import pytest

from cfmgml.evaluation.page import details, plain, whole_page
from cfmgml.evaluation.page_style import STYLE
from cfmgml.evaluation.tables import Table, TableCell, TableRow
from needs import needs, needs_program

COLUMNS = tuple(f"measure {k} of bags" for k in range(20))
A4 = 718  # pixels across, between the margins


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    rows = tuple(TableRow(f"method {k}", tuple(TableCell(".865 ± .048") for _ in COLUMNS)) for k in range(4))
    table = Table("wide", "All measures", COLUMNS, rows, corner="method")
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(whole_page("wide", STYLE, plain(table) + details("more", plain(table))))
    return path.as_uri()


@pytest.fixture(scope="module")
def chromium():
    needs("playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = needs_program("chromium", "chromium-browser", "google-chrome")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.mark.slow
def test_on_a_screen(chromium, report):
    page = chromium.new_page(viewport={"width": 1000, "height": 700})
    page.goto(report)
    box = page.locator(".wide").first
    assert box.evaluate("e => getComputedStyle(e).maskImage").startswith("linear-gradient")  # it goes on
    before = box.locator("tbody th").first.bounding_box()["x"]
    box.evaluate("e => e.scrollTo(1e6, 0)")
    page.wait_for_function("getComputedStyle(document.querySelector('.wide')).maskImage === 'none'")
    assert box.locator("tbody th").first.bounding_box()["x"] == pytest.approx(before, abs=1)  # the first column stays
    assert page.locator(".paper").first.is_hidden()


@pytest.mark.slow
def test_on_paper(chromium, report):
    """Also in what is folded up on the screen."""
    page = chromium.new_page(viewport={"width": A4, "height": 1000})
    page.emulate_media(media="print")
    page.goto(report)
    seen = page.evaluate(
        """Array.from(document.querySelectorAll("thead th"), e => [e.textContent, e.getBoundingClientRect()])
          .filter(([, box]) => box.width > 0).map(([words, box]) => [words, box.left, box.right])"""
    )
    assert min(left for _, left, _ in seen) >= 0
    assert max(right for *_, right in seen) <= A4
    for name in COLUMNS:
        assert [words for words, *_ in seen].count(name) == 2
    assert len(page.pdf(format="A4")) > 1000
