"""What the page tells a stranger: whole names, what scores mean, the truth where it is known, and what is strange."""

import io
import json
import re

import numpy as np
import pytest
from PIL import Image

from browsers import violations
from needs import needs
from page_actions import choose_file, downloaded, expect, wait_for_answer

pytestmark = pytest.mark.slow
LONG = "Sustaining proliferative signalling in the absence of growth factors"


SMILES = {"acid": ["CC(=O)O", "CCC(=O)O", "CCCC(=O)O"], "amine": ["CCN", "CCCN", "CC(C)N"]}


@pytest.fixture(scope="module")
def molecule_model():
    from cfmgml import CfMGML
    from cfmgml.datasets import bags_from_molecules
    from cfmgml.kernels import WeisfeilerLehman

    needs("rdkit")
    known = [(smiles, name) for name, own in SMILES.items() for smiles in own]
    bags = bags_from_molecules([smiles for smiles, _ in known], [[name] for _, name in known])
    return CfMGML(WeisfeilerLehman(n_iter=1), alpha=1e-3).fit(bags)


@pytest.fixture(scope="module")
def app(text_model, graph_model, digit_model, molecule_model):
    """Labels with long names, in place of the models that other pages' tests share."""
    from dataclasses import replace

    from cfmgml.demo import models as demo
    from cfmgml.web import Exhibit, Limits, Sample, create_app

    named = text_model.learned_
    names = np.array([LONG, *named.label_names[1:].tolist()])
    text_model.learned_ = replace(named, label_names=names)
    exhibits = {
        "texts": Exhibit(text_model, "Texts", samples=(Sample("cells", "Tumour cells grow. Cells grow fast."),)),
        "graphs": Exhibit(graph_model, "Graphs"),
        "digits": Exhibit(digit_model, "Digits", samples=demo.digit_strips()),
        "molecules": Exhibit(molecule_model, "Molecules", samples=(Sample("glycine", "NCC(=O)O"),)),
        "shapes": Exhibit(graph_model, "Rings and chains of coloured beads, and what hangs on them"),
    }
    yield create_app(exhibits, limits=Limits(workers=1))
    text_model.learned_ = named


@pytest.fixture(scope="module")
def live(app, serving):
    with serving(app) as address:
        yield address


@pytest.mark.parametrize("width", [390, 768, 1440])
def test_names_are_whole(open_page, width):
    page = open_page(width=width)
    wait_for_answer(page, "2 sentences")
    name = page.locator("#labels .name").get_by_text(LONG)
    expect(name).to_be_visible()
    assert name.evaluate("e => e.scrollWidth <= e.clientWidth && getComputedStyle(e).textOverflow !== 'ellipsis'")
    assert LONG in name.locator("..").get_attribute("title")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for box in page.locator("#labels .row, #graphs .row, .sentence, .best").all():
        card = box.evaluate("e => e.closest('section').getBoundingClientRect().right - e.getBoundingClientRect().right")
        assert card >= 0


@pytest.mark.parametrize("width", [390, 1440])
def test_tags_stay_on_their_card(open_page, width):
    page = open_page(width=width, address="#model=digits&sample=2")
    wait_for_answer(page, "5 digits")
    page.evaluate("for (const tag of document.querySelectorAll('#labels button')) tag.click()")
    frame = page.locator("#picture .frame").bounding_box()
    boxes = [tag.bounding_box() for tag in page.locator("#tags .tag").all()]
    assert len(boxes) == 5
    for box in boxes:
        assert frame["x"] <= box["x"]
        assert box["x"] + box["width"] <= frame["x"] + frame["width"]
        assert box["y"] + box["height"] <= frame["y"] + frame["height"]


def test_what_scores_mean(open_page):
    page = open_page()
    wait_for_answer(page, "2 sentences")
    expect(page.locator("#scale")).to_contain_text("probability")
    scores = page.locator("#labels .score").all_inner_texts()
    assert all(score.endswith("%") for score in scores)  # the model is calibrated
    assert not {"0 %", "100 %"} & set(scores)  # and never certain
    expect(page.locator("#graphs-scale")).to_be_visible()  # sentences have no probabilities
    page.get_by_role("radio", name="Digits").check()
    wait_for_answer(page, "digits")
    expect(page.locator("#scale")).to_contain_text("Above 0 the model says yes")
    assert page.locator("#labels .score").first.inner_text()[0] in "+\u2212"
    expect(page.locator("#graphs-scale")).to_be_hidden()


def test_the_page_for_texts_says_what_to_do(open_page):
    page = open_page()
    wait_for_answer(page, "2 sentences")
    box = page.get_by_label("A text, cut into sentences")
    assert "Paste or type it" in box.get_attribute("placeholder")
    box.fill("Vessels carry blood. Cells grow. Immune cells attack.")
    box.press("Control+Enter")
    wait_for_answer(page, "3 sentences")
    expect(page.locator("#samples button")).to_have_attribute("aria-pressed", "false")


def test_digits_show_the_truth(open_page):
    page = open_page(address="#model=digits&sample=1")
    wait_for_answer(page, "3 digits")
    tags = page.locator("#tags .tag").all_inner_texts()
    rows = page.locator("#graphs .row .truth").all_inner_texts()
    truth = ["6", "9", "3"]
    for tag, row, right in zip(tags, rows, truth, strict=True):
        assert tag in (f"{right} \u2713", f"{tag.split()[0]} \u2717, is {right}")
        assert row == (", right" if tag.endswith("\u2713") else f", is {right}")
    page.locator("#labels button").first.click()
    expect(page.locator("#graphs .decides")).to_have_count(1)
    assert page.locator("#graphs .truth").count() == 0  # it is of the best label, which the rows show no more


def test_own_graphs_are_drawn_and_linked_to_their_words(open_page):
    page = open_page(address="#model=graphs")
    ring = {"node_labels": ["C", "N", "C", "Xx"], "edges": [[0, 1], [1, 2], [2, 0], [2, 3]]}
    page.get_by_label("Graphs, as JSON").fill(json.dumps({"graphs": [ring, {"node_labels": ["C"]}]}))
    page.get_by_role("button", name="Read it").click()
    wait_for_answer(page, "2 graphs")
    assert page.locator(".network").count() == 2
    assert page.locator(".network").first.locator("line.edge").count() == 4
    assert page.locator(".network .node text").all_text_contents() == ["C", "N", "C", "Xx", "C"]
    assert page.locator("mark.unknown").all_inner_texts() == ["Xx"]
    assert page.locator(".node.unknown").get_attribute("data-node") == "3"
    page.locator("#reading mark[data-node='1']").hover()
    expect(page.locator(".node[data-node='1']")).to_have_class("node lit")
    page.locator(".node[data-node='2'] circle").hover()
    expect(page.locator("mark[data-node='2']")).to_have_class("lit")
    expect(page.locator(".node[data-node='1']")).to_have_class("node")


def test_a_drawing_is_about_the_label_that_is_chosen(open_page, tmp_path):
    page = open_page(address="#model=molecules")
    wait_for_answer(page, "fragment")
    drawing = page.locator("#reading .drawing")
    best, other = page.locator("#labels .name").all_inner_texts()
    expect(drawing).to_have_attribute("alt", re.compile(f"{best}$"))
    first = drawing.get_attribute("src")
    assert colours_of(drawing.screenshot()) == {"orange"}  # as the legend has it
    page.locator("#labels button").nth(1).click()
    expect(drawing).to_have_attribute("alt", re.compile(f"{other}$"))
    assert drawing.get_attribute("src") != first
    picture = Image.open(downloaded(page, "#as-picture", tmp_path))
    assert picture.format == "PNG"
    assert len(picture.convert("RGB").getcolors(2**24)) > 10
    page.locator("#labels button").nth(1).click()  # none is chosen any more
    expect(drawing).to_have_attribute("alt", re.compile(f"{best}$"))
    assert not violations(page)


def colours_of(data):
    """Of what is strongly coloured there: orange speaks for a label, blue against it."""
    red, green, blue = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int).reshape(-1, 3).T
    strong = {"orange": (red - blue > 90) & (green - blue > 15), "red": (red - blue > 90) & (green - blue < 15)}
    return {name for name, chosen in strong.items() if chosen.sum() > 100}


def test_a_warning_where_an_input_is_strange(open_page, make_file):
    page = open_page(address="#model=digits")
    wait_for_answer(page, "4 digits")
    expect(page.locator("#notice")).to_be_hidden()
    pixels = np.full((64, 64, 3), 255, dtype=np.uint8)
    pixels[4:60, 4:60] = 0  # a block of ink is no digit
    choose_file(page, "block.png", make_file(pixels))
    wait_for_answer(page, "1 digit")
    expect(page.locator("#notice")).to_contain_text("1 of 1 digit is unlike anything in training")
    expect(page.locator("#graphs .unlike")).to_have_text("unlike training")
