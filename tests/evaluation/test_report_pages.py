"""Reports in real browsers: wide tables scroll and say so, paper has every column, and everybody can read them."""

import re
from html import unescape

import pytest

from browsers import is_firefox, launched, letters, printed, violations  # noqa: F401
from cfmgml.builders.texts.coloured import write_coloured
from cfmgml.demo.digits import run_demo
from cfmgml.demo.letters import SAMPLES, train_letters
from cfmgml.demo.page import page as demo_page
from cfmgml.evaluation.experiment import Experiment
from cfmgml.evaluation.page import About, page
from cfmgml.evaluation.selection import Results
from cfmgml.paper.presentation import PaperPresentation
from cfmgml.paper.report import TITLE, paper_page
from cfmgml.paper.samples import sample_figure
from doc_pages import ROOT
from needs import not_in_this_browser
from page_actions import wait_until
from small_experiment import digits, run

pytestmark = pytest.mark.slow

A4 = 718  # pixels across, between the margins
MARKED = (
    "<article class=reading><h3>a: <span class=right>predicted growth +0.50; true growth</span></h3>"
    '<p><mark class=for style="--strength:1.00">Cells</mark> of <mark class=against style="--strength:0.30">ice</mark>'
    " grow.<br><small><span class=wrong>predicted none; true growth</span></small></p></article>"
)


@pytest.fixture(scope="module")
def kept():
    """The paper's experiments, as they are committed: the widest report that there is."""
    return Experiment(ROOT / "docs" / "results" / "reproduction").results(PaperPresentation())


@pytest.fixture(scope="module")
def folder(kept, tmp_path_factory):
    """A file a page; of the paper's one with all data sets and one with the first."""
    into = tmp_path_factory.mktemp("reports")
    about = About(TITLE, "cfmgml reproduce", failures=["x: it broke"])
    few = Results(kept.all_rows(), list(kept.facts.values())[:1], PaperPresentation())
    own = run(into / "out", data=digits(shared=True)).results()
    pages = {
        "paper": paper_page(kept, about),
        "few": paper_page(few, about, sample_figure("Texts", MARKED)),
        "own": page(own, About("Methods on digits", "cfmgml evaluate digits.bags")),
        "demo": demo_page(run_demo(n_train=40, n_test=20)),
    }
    for name, html in pages.items():
        (into / f"{name}.html").write_text(html)
    letters = train_letters()
    bags = letters.builder_.rebuild([sample.content for sample in SAMPLES])
    scores = letters.decision_function_graphs(bags)
    write_coloured(bags, letters.label_names_, scores, letters.explain(bags), into / "coloured.html")
    return into


@pytest.fixture
def opened(launched, folder):  # noqa: F811
    pages = []

    def go(name, *options):
        view = launched(*options)
        pages.append(view)
        view.goto((folder / f"{name}.html").as_uri())
        return view

    yield go
    for view in pages:
        view.close()


def shade(view, box):
    """How dark the right edge of a box is, in its upper part: from 0 to 255."""
    import io

    import numpy as np
    from PIL import Image

    pixels = np.asarray(Image.open(io.BytesIO(box.screenshot())).convert("L")).astype(float)
    edge, beside = pixels[12:200, -6:-3], pixels[12:200, -26:-24]
    return float(beside.mean() - edge.mean())


@pytest.mark.parametrize("width", [390, 1440])
def test_a_wide_table_says_that_it_goes_on(opened, width):
    view = opened("paper", "light", width)
    box = view.locator("#graphs .wide").first
    first = box.locator("tbody th").first
    assert box.evaluate("e => e.scrollWidth > e.clientWidth + 300")
    before = first.bounding_box()["x"]
    assert shade(view, box) > 40
    box.evaluate("e => e.scrollTo(1e6, 0)")
    wait_until(
        view, "(e => e.scrollLeft + e.clientWidth >= e.scrollWidth - 2)(document.querySelector('#graphs .wide'))"
    )
    assert shade(view, box) < 10  # that was all
    assert first.bounding_box()["x"] == pytest.approx(before, abs=1)  # the first column stays
    assert view.evaluate("document.documentElement.scrollWidth") <= width


def test_a_table_that_fits_has_no_shadow(opened):
    view = opened("few", "light", 1440)
    box = view.locator("#bags .wide").first
    assert box.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert shade(view, box) < 10


def test_every_column_and_row_is_on_paper(opened, folder):
    """Also of what is folded up on the screen."""
    html = (folder / "paper.html").read_text()
    words, _ = printed(opened("paper"))
    heads = {unescape(text) for text in re.findall(r"<th scope=(?:col|row)[^>]*>([^<]*)</th>", html)}
    assert len(heads) > 60
    assert [head for head in heads if letters(head) not in words] == []
    figures = set(re.findall(r"<td>(?:<b>)?([^<]+ ± [^<]+)<", html))
    assert len(figures) > 500
    assert [figure for figure in figures if letters(figure) not in words] == []


def test_nothing_leaves_the_paper(opened):
    view = opened("paper", "light", A4)
    if is_firefox(view):
        not_in_this_browser("Debian's Firefox cannot be told to imitate paper, and prints what is wide smaller")
    view.emulate_media(media="print")
    out = view.evaluate(
        """Array.from(document.querySelectorAll("th, td, svg, p"), e => [e.textContent, e.getBoundingClientRect()])
          .filter(([, box]) => box.width > 0 && (box.left < 0 || box.right > innerWidth + 1)).map(([words]) => words)"""
    )
    assert out == []


@pytest.mark.parametrize("scheme", ["light", "dark", "forced"])
@pytest.mark.parametrize("name", ["few", "own", "demo", "coloured"])
def test_axe_finds_no_problem(opened, name, scheme):
    view = opened(name, scheme)
    for width in (390, 768, 1440):
        view.set_viewport_size({"width": width, "height": 900})
        assert not violations(view), width
        assert view.evaluate("document.documentElement.scrollWidth") <= width


def test_coloured_words_keep_their_meaning_in_forced_colours(opened):
    view = opened("coloured", "forced")
    sign = "e => getComputedStyle(e, '::after').content"
    for way, shown in (("for", '"+"'), ("against", '"\u2212"')):
        assert {mark.evaluate(sign) for mark in view.locator(f"p > mark.{way}").all()} == {shown}
    assert "none" in opened("coloured").locator("p > mark.for").first.evaluate(sign)
