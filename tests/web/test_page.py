"""The page in a real browser: what people do, what they see, and that everybody can use it."""

import io

import numpy as np
import pytest
from PIL import Image

from browsers import violations
from cfmgml.common.tables import read_table
from cfmgml.learning.predictions import prediction_kinds
from cfmgml.plots.colours import label_colours
from page_actions import choose_file, choose_files, downloaded, expect, wait_for_answer, wait_until


def seen(page, selector="#canvas"):
    """The pixels of an element as the browser shows it."""
    return read_pixels(page.locator(selector).screenshot())


def test_image_in_regions_and_labels_out(open_page, photo_model, photo_file):
    page = open_page()
    wait_for_answer(page, "Found cat")  # the first sample opens by itself
    choose_file(page, "mine.png", photo_file)
    wait_for_answer(page, "8 regions")
    assert page.locator("#labels button").count() == len(photo_model.label_names_)
    assert page.locator("#labels .found button").first.inner_text().split() == ["cat", page_score(page, 0)]
    assert page.locator("#graphs button").count() == 8
    assert page.locator("#tags .tag").count() == 8
    assert "cat" in page.locator("#tags").inner_text()
    outlines = (seen(page).min(axis=2) > 215).mean() - (read_pixels(photo_file).min(axis=2) > 215).mean()
    assert 0.004 < outlines < 0.2  # thin white lines on a brown cat


def test_scores_as_a_file(open_page, photo_model, photo_file, tmp_path):
    page = open_page()
    wait_for_answer(page, "Found cat")
    choose_file(page, "mine.png", photo_file)
    wait_for_answer(page, "8 regions")
    for level, n_rows in (("bag", 1), ("graph", 8), ("node", None)):
        file = downloaded(page, f"#table-{level}", tmp_path)
        assert file.name == f"photos-{level}s.csv"
        rows = read_table(file)
        assert list(rows[0]) == list(prediction_kinds(photo_model, level))
        assert n_rows is None or len(rows) == n_rows
    assert page.locator("#error").is_hidden()


def read_pixels(data):
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)


def page_score(page, number):
    return page.locator("#labels .score").nth(number).inner_text()


@pytest.mark.slow
def test_click_shows_the_heat_map(open_page):
    page = open_page()
    wait_for_answer(page, "Found cat")
    before = seen(page)
    assert page.locator("#legend").is_hidden()
    page.locator("#labels button").first.click()
    wait_for_answer(page, "Showing what speaks for cat")
    heat = seen(page)
    assert page.locator("#labels button").first.get_attribute("aria-pressed") == "true"
    assert "What speaks for cat" in page.locator("#legend").inner_text()
    assert page.locator("#graphs .decides").count() == 1
    red, _, blue = heat.transpose(2, 0, 1)
    assert (red - blue > 60).mean() > 0.05  # what speaks for the cat is orange
    assert np.abs(heat - before).mean() > 10
    page.locator("#labels button").first.click()
    wait_for_answer(page, "Showing all parts")
    np.testing.assert_allclose(seen(page).mean(), before.mean(), atol=2)


@pytest.mark.slow
def test_the_painting_and_its_opacity(open_page, photo_model):
    """As strong as the slider says, nothing at 0; the legend names the colours; a heat map takes its place."""
    page = open_page()
    wait_for_answer(page, "Found cat")
    legend = page.get_by_role("list", name="What the colours mean")
    cat, *rest = legend.get_by_role("listitem").all_inner_texts()  # labels may cover the picture
    assert cat.split()[0] == "cat"
    assert all(line.split()[:2] == ["no", "label"] for line in rest)
    assert abs(int(cat.split()[1]) + sum(int(line.split()[2]) for line in rest) - 100) <= 1
    colour = np.array(label_colours(len(photo_model.label_names_))[photo_model.label_names_.tolist().index("cat")])
    assert page.locator("#painted .swatch").first.evaluate("e => getComputedStyle(e).backgroundColor") == (
        f"rgb({', '.join(map(str, colour))})"
    )
    slider = page.get_by_role("slider", name="Painting, opacity")
    slider.focus()  # by keyboard
    slider.press("End")
    expect(page.locator("#opacity-value")).to_have_text("100 %")
    share = (np.abs(seen(page) - colour).max(axis=2) < 8).mean()
    assert share == pytest.approx(int(cat.split()[1]) / 100, abs=0.15)  # but for outlines and names
    slider.press("Home")
    expect(page.locator("#opacity-value")).to_have_text("0 %")
    assert (np.abs(seen(page) - colour).max(axis=2) < 8).mean() < 0.01
    page.locator("#labels button").first.click()
    expect(page.locator("#painting")).to_be_hidden()
    page.locator("#labels button").first.click()
    expect(page.locator("#painting")).to_be_visible()


@pytest.mark.slow
def test_by_keyboard_alone(open_page):
    page = open_page()
    wait_for_answer(page, "Found cat")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('#labels') !== null"):
            break
    else:
        pytest.fail("the labels cannot be reached with Tab")
    page.keyboard.press("Enter")
    wait_for_answer(page, "Showing what speaks for cat")
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"  # the focus stayed
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


@pytest.mark.slow
def test_the_slider_moves_the_number_of_regions(open_page):
    page = open_page()
    wait_for_answer(page, "8 regions")
    slider = page.get_by_role("slider", name="Regions, at most")
    slider.focus()
    for _ in range(5):
        slider.press("ArrowLeft")
    wait_for_answer(page, "3 regions")
    assert page.locator("#graphs button").count() == 3


@pytest.mark.slow
def test_a_click_on_the_picture_chooses_its_region(open_page):
    page = open_page()
    wait_for_answer(page, "8 regions")
    page.locator("#canvas").click(position={"x": 40, "y": 40})
    assert page.locator("#graphs button[aria-pressed=true]").count() == 1


@pytest.mark.slow
def test_a_bad_file_shows_a_readable_error(open_page, photo_file):
    page = open_page()
    wait_for_answer(page, "Found cat")
    alert = page.get_by_role("alert")
    for name, data, words in (
        ("notes.png", b"these are notes", "This is not a PNG, JPEG, WebP, GIF or BMP image."),
        ("half.png", photo_file[:3000], "cannot be decoded"),
        ("large.png", bytes(3 * 2**20), "3.0 MiB; 2 MiB are the most"),
    ):
        choose_file(page, name, data)
        alert.get_by_text(words).wait_for(state="visible")
    page.get_by_role("button", name="Sample: cat").click()
    wait_for_answer(page, "Found cat")
    assert alert.is_hidden()


@pytest.mark.slow
def test_digits(open_page):
    page = open_page()
    page.get_by_role("radio", name="Digits").check()
    wait_for_answer(page, "4 digits")
    assert page.get_by_role("slider").count() == 0
    page.locator("#labels button").first.click()
    wait_for_answer(page, "Showing what speaks for")
    assert page.locator("#tags .tag").count() == 4


@pytest.mark.slow
def test_texts(open_page):
    page = open_page()
    page.get_by_role("radio", name="Texts").check()
    wait_for_answer(page, "2 sentences")
    page.get_by_label("A text, cut into sentences").fill("\U0001d54b Vessels carry blood. Immune <b>cells</b> attack.")
    page.get_by_role("button", name="Read it").click()
    wait_for_answer(page, "2 sentences")
    assert page.locator("#reading b").count() == 0  # what was typed is text
    page.locator("#labels button").first.click()
    wait_for_answer(page, "Showing what speaks for")
    marked = page.locator("#reading mark.for, #reading mark.against")
    assert {"Vessels", "blood", "Immune"} <= set(marked.all_inner_texts())
    page.get_by_label("A text, cut into sentences").fill("")
    page.get_by_role("button", name="Read it").click()
    page.get_by_role("alert").get_by_text("There is no text.").wait_for()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark", "forced"])
def test_axe_finds_no_problem(open_page, photo_file, scheme):
    page = open_page(scheme)
    wait_for_answer(page, "Found cat")
    assert page.evaluate("matchMedia('(forced-colors: active)').matches") == (scheme == "forced")
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") == (scheme == "dark")
    states = [lambda: None, lambda: page.locator("#labels button").first.click()]
    states += [lambda: page.locator("#correct summary").click(), lambda: keep_and_copy(page)]
    states += [lambda: open_two(page, photo_file), lambda: send_no_image(page), lambda: open_digits(page)]
    states += [lambda: open_texts(page), lambda: page.locator("#labels button").first.click()]
    states += [lambda: send_graphs(page)]
    for number, reach in enumerate(states):
        reach()
        for width in (390, 768, 1440):
            page.set_viewport_size({"width": width, "height": 860})
            wait_until(page, "document.getAnimations().length === 0")  # what fades has faded
            assert not violations(page), (number, width)


def send_no_image(page):
    choose_file(page, "notes.png", b"these are notes")
    page.get_by_role("alert").get_by_text("This is not a PNG").wait_for()


def open_digits(page):
    page.get_by_role("radio", name="Digits").check()
    wait_for_answer(page, "4 digits")


def open_texts(page):
    page.get_by_role("radio", name="Texts").check()
    wait_for_answer(page, "2 sentences")


def keep_and_copy(page):
    page.get_by_role("button", name="Keep this correction").click()
    page.locator("#as-command").click()


def open_two(page, photo_file):
    choose_files(page, {"one.png": photo_file, "two.png": b"no image"})
    expect(page.locator("#gallery-count")).to_contain_text("1 input read, 1 could not be.")
    wait_for_answer(page, "Found cat")


def send_graphs(page):
    page.get_by_role("radio", name="Graphs").check()
    page.get_by_label("Graphs, as JSON").fill('{"graphs": [{"node_labels": ["C", "Xx"], "edges": [[0, 1]]}]}')
    page.get_by_role("button", name="Read it").click()
    wait_for_answer(page, "1 graph")


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 1180])
def test_nothing_is_cut_off(open_page, width):
    page = open_page(width=width, height=740)
    wait_for_answer(page, "Found cat")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#canvas").bounding_box()["width"] <= width
    small = page.evaluate(
        "Array.from(document.querySelectorAll('button, .button')).filter(e => e.offsetParent).map(e => e.offsetHeight)"
    )
    assert min(small) >= 24  # large enough for a finger
