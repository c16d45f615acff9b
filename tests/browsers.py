"""Real browsers for tests: Debian's Chromium and Firefox, driven by Playwright."""

import functools
import io
import sys
import unicodedata
from pathlib import Path

import pytest

from needs import needs, needs_program

FIREFOX = {  # what a person would have set, as Debian's Firefox cannot be told to imitate it
    "light": {"layout.css.prefers-color-scheme.content-override": 1},
    "dark": {"layout.css.prefers-color-scheme.content-override": 0},
    "forced": {"browser.display.document_color_use": 2},
}
PAPER = (21.0, 29.7, 1.5)  # A4 and its margins, in centimetres


@pytest.fixture(scope="module", params=["chromium", pytest.param("firefox", marks=pytest.mark.slow)])
def launched(request, tmp_path_factory):
    """Opens empty pages, in light, dark or forced colours; without the browser the test is skipped, in CI it fails."""
    needs("playwright")
    from playwright.sync_api import sync_playwright

    program = programs[request.param](tmp_path_factory)
    with sync_playwright() as playwright:

        @functools.cache
        def launch(scheme):
            if request.param == "chromium":
                return playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            return playwright.firefox.launch(
                executable_path=program, channel="moz-firefox", firefox_user_prefs=FIREFOX[scheme]
            )

        def new_page(scheme="light", width=1180, height=860):
            imitated = {"color_scheme": "dark" if scheme == "dark" else "light"}
            if request.param == "chromium":  # it imitates what a page asks for, so one is enough
                imitated["forced_colors"] = "active" if scheme == "forced" else "none"
            browser = launch("light" if request.param == "chromium" else scheme)
            page = browser.new_page(viewport={"width": width, "height": height}, **imitated)
            page.set_default_timeout(120_000)
            return page

        yield new_page


def _chromium(folders):
    return needs_program("chromium", "chromium-browser", "google-chrome")


def _firefox(folders):
    """A program that starts Firefox behind `firefox_stand_in`."""
    needs("aiohttp")
    firefox = needs_program("firefox-esr", "firefox")
    program = folders.mktemp("firefox") / "firefox"
    stand_in = Path(__file__).with_name("firefox_stand_in.py")
    program.write_text(f'#!/bin/sh\nFIREFOX={firefox} exec {sys.executable} {stand_in} "$@"\n')
    program.chmod(0o755)
    return program


programs = {"chromium": _chromium, "firefox": _firefox}


def is_firefox(page):
    return page.context.browser.browser_type.name == "firefox"


def printed(page):
    """The `letters` on paper, and how many sheets there are."""
    sheets = needs("pypdf").PdfReader(io.BytesIO(_pdf(page))).pages
    return letters("".join(sheet.extract_text() for sheet in sheets)), len(sheets)


def letters(text):
    """Without spaces, which a browser puts where it likes, and without ligatures."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def _pdf(page):
    unit = 2.54 if is_firefox(page) else 1  # Playwright tells Firefox inches and calls them centimetres
    width, height, margin = (f"{unit * length}cm" for length in PAPER)
    return page.pdf(width=width, height=height, margin=dict.fromkeys(("left", "right", "top", "bottom"), margin))


def violations(page):
    """What axe finds wrong with a page as it is now."""
    from axe_playwright_python.sync_playwright import Axe

    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    found = page.evaluate("axe.run({resultTypes: ['violations']}).then((found) => found.violations)")
    return [(problem["id"], node["html"]) for problem in found for node in problem["nodes"]]
