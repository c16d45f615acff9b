"""The site as `make docs` wrote it, looked at in a browser: it is whole, asks nobody for anything, and finds things."""

import os

import pytest

from browsers import violations
from doc_pages import ROOT
from needs import missing, needs, needs_program

SITE = ROOT / "out" / "docs"
PAGES = [
    "index.html",
    "start.html",
    "gallery/index.html",
    "gallery/digits.html",
    "method.html",
    "reference/index.html",
    "reference/generated/cfmgml.CfMGML.html",
    "results/digits.html",
    "results/real_data.html",
    "changelog.html",
]
SCHEMES = ("light", "dark", "forced")
WIDTHS = (390, 768, 1440)
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser():
    if not (SITE / "index.html").is_file():
        missing("there is no site in out/docs: make docs")
    api = needs("playwright") and __import__("playwright.sync_api", fromlist=["sync_playwright"])
    program = needs_program("chromium", "chromium-browser", "google-chrome")
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def tab(browser):
    """A tab that notes what it is refused or asks others for."""
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.troubles = []
    page.on("request", lambda request: request.url.startswith(("file:", "data:")) or page.troubles.append(request.url))
    page.on("requestfailed", lambda request: page.troubles.append(request.url))
    page.on("pageerror", lambda error: page.troubles.append(str(error)))
    yield page
    page.close()


def pages_of(site):
    found = (path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    return sorted(name for name in found if not name.startswith("_static/"))  # a part of the theme, which nobody sees


def in_colours(browser, scheme):
    imitated = {"color_scheme": "dark" if scheme == "dark" else "light"}
    return browser.new_page(**imitated, forced_colors="active" if scheme == "forced" else "none")


def test_every_public_name_and_example_has_its_page(browser):
    found = pages_of(SITE)
    assert sum(name.startswith("reference/generated/") for name in found) > 80
    assert {f"gallery/{file.stem}.html" for file in (ROOT / "examples").glob("*.py")} <= set(found)


def test_what_is_returned_has_a_type_and_its_sentences(browser):
    """Sentences without a type would be taken for types, a line each."""
    page = browser.new_page()
    for name in pages_of(SITE):
        if name.startswith("reference/generated/"):
            page.goto((SITE / name).as_uri())
            kinds = page.locator("dt:text('Returns:') + dd > dl > dt").all_inner_texts()
            assert not [kind for kind in kinds if " " in kind and "[" not in kind], name
    page.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_asks_nobody_and_fits(tab, name):
    tab.goto((SITE / name).as_uri())
    assert tab.locator("h1").count() == 1
    assert not tab.troubles
    broken = "() => [...document.images].filter(image => image.complete && !image.naturalWidth).map(image => image.src)"
    assert tab.evaluate(broken) == []
    for width in (390, 1400):
        tab.set_viewport_size({"width": width, "height": 900})
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_no_problem(browser, name):
    """Loaded at each width: the theme lets people scroll by keyboard what is too wide there."""
    for scheme in SCHEMES:
        tab = in_colours(browser, scheme)
        for width in WIDTHS:
            tab.set_viewport_size({"width": width, "height": 900})
            tab.goto((SITE / name).as_uri())
            assert not violations(tab), (scheme, width)
        tab.close()


def test_axe_finds_no_problem_on_any_page(browser):
    """Every page that there is. Colours and widths are dealt out among them, for all on all take many minutes: with
    AXE=all in the environment they are looked at as well."""
    everything = os.environ.get("AXE") == "all"
    names = pages_of(SITE)
    found = []
    for first, scheme in enumerate(SCHEMES):
        tab = in_colours(browser, scheme)
        for number, name in enumerate(names if everything else names[first :: len(SCHEMES)]):
            for width in WIDTHS if everything else [WIDTHS[number % len(WIDTHS)]]:
                tab.set_viewport_size({"width": width, "height": 900})
                tab.goto((SITE / name).as_uri())
                found += [(name, scheme, width, problem) for problem in violations(tab)]
        tab.close()
    assert not found


def test_search_finds_offline(tab):
    tab.goto((SITE / "index.html").as_uri())
    tab.keyboard.press("Control+k")
    tab.locator("input[type=search]:visible").fill("bags_from_images")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#search-results li a")
    links = tab.locator("#search-results li a").evaluate_all("found => found.map(link => link.getAttribute('href'))")
    assert any("cfmgml.datasets.bags_from_images.html" in link for link in links)
    assert not tab.troubles


def test_dark_pages_are_dark(browser):
    context = browser.new_context(color_scheme="dark")
    tab = context.new_page()
    tab.goto((SITE / "index.html").as_uri())
    red, green, blue = tab.evaluate(
        "getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).slice(0, 3).map(Number)"
    )
    assert red + green + blue < 200
    context.close()
