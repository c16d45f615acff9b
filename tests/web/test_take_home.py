"""What people take home from the page: files, a command, one table of many files, corrections to learn from."""

import io
import json
import shlex
import subprocess

import numpy as np
import pytest
from PIL import Image

from browsers import is_firefox, letters, printed
from cfmgml import BagDataset, CfMGML
from cfmgml.cli import main
from cfmgml.common.tables import read_table
from cfmgml.data.questions import Question
from cfmgml.demo import models as demo
from cfmgml.web.answers import Analyst
from needs import needs_program, not_in_this_browser
from page_actions import choose_file, choose_files, downloaded, expect, wait_for_answer

pytestmark = pytest.mark.slow


@pytest.fixture
def photo_page(open_page, photo_file):
    page = open_page()
    wait_for_answer(page, "Found cat")
    choose_file(page, "mine.png", photo_file)
    expect(page.locator("#canvas")).to_have_attribute("aria-label", "mine.png with 8 regions outlined")
    return page


def test_the_answer_as_json(photo_page, photo_model, photo_file, tmp_path):
    answer = json.loads(downloaded(photo_page, "#as-json", tmp_path).read_text())
    assert answer["labels"] == Analyst(photo_model).answer("image", Question(photo_file, 8))["labels"]


def test_the_picture_with_its_names(photo_page, tmp_path):
    taken = np.asarray(Image.open(downloaded(photo_page, "#as-picture", tmp_path)).convert("RGB")).astype(int)
    box = photo_page.locator("#canvas").bounding_box()
    assert taken.shape[:2] == (round(box["height"]), round(box["width"]))
    seen = Image.open(io.BytesIO(photo_page.locator("#canvas").screenshot())).convert("RGB")
    assert np.abs(taken - np.asarray(seen.resize(taken.shape[1::-1])).astype(int)).mean() < 4  # tags and all


def test_a_mask_is_what_the_model_paints(photo_page, photo_model, photos, make_file, tmp_path):
    china = make_file(photos["china"][::2, ::2])
    choose_file(photo_page, "china.png", china)
    wait_for_answer(photo_page, "building")
    mask = Image.open(downloaded(photo_page, "#as-mask", tmp_path))
    assert mask.mode == "P"
    answer = Analyst(photo_model).answer("image", Question(china, 8))
    runs = np.array(answer["picture"]["nodes"]).reshape(-1, 2)
    nodes = np.repeat(runs[:, 0], runs[:, 1])
    expected = np.array([*answer["painting"]["nodes"], -1])[nodes] + 1
    np.testing.assert_array_equal(np.asarray(mask).ravel(), expected)
    assert len(np.unique(expected)) > 1


def test_the_question_as_a_command(photo_page, photo_file, tmp_path):
    curl = needs_program("curl")
    photo_page.locator("#as-command").click()
    words = shlex.split(photo_page.locator("#command").inner_text())
    assert words[0] == "curl"
    (tmp_path / "mine.png").write_bytes(photo_file)
    said = subprocess.run([curl, "-sS", *words[1:]], cwd=tmp_path, capture_output=True, check=True, timeout=60)
    assert json.loads(said.stdout)["labels"][0]["name"] == "cat"


def test_a_text_as_a_command(open_page):
    curl = needs_program("curl")
    page = open_page(address="#model=texts")
    wait_for_answer(page, "2 sentences")
    page.get_by_label("A text, cut into sentences").fill('It\'s blood. "Cells" $HOME grow\nfast.')
    page.get_by_role("button", name="Read it").click()
    wait_for_answer(page, "2 sentences")
    page.locator("#as-command").click()
    said = subprocess.run(
        ["sh", "-c", page.locator("#command").text_content().replace("curl", f"{curl} -sS", 1)],
        capture_output=True, check=True, timeout=60,
    )  # fmt: skip
    assert json.loads(said.stdout)["texts"][0]["text"] == "It's blood."


def test_a_sample_as_a_command(open_page):
    """It is fetched, and sent on."""
    needs_program("curl")
    page = open_page()
    wait_for_answer(page, "Found cat")
    page.locator("#as-command").click()
    command = page.locator("#command").text_content()
    said = subprocess.run(["sh", "-c", command], capture_output=True, check=True, timeout=60)
    assert json.loads(said.stdout)["labels"][0]["name"] == "cat"


def test_several_files_are_a_gallery_with_one_table(open_page, photo_file, photos, photo_model, make_file, tmp_path):
    page = open_page()
    wait_for_answer(page, "Found cat")
    flower = make_file(photos["flower"][::2, ::2])
    choose_files(page, {"a,b.png": photo_file, "bad.png": b"no image", "flower.png": flower})
    expect(page.locator("#gallery-count")).to_have_text("2 inputs read, 1 could not be.")
    cards = page.locator("#cards .card")
    assert cards.count() == 3
    assert "cat" in cards.nth(0).inner_text()
    assert "not a PNG" in cards.nth(1).inner_text()
    rows = read_table(downloaded(page, "#gallery-table", tmp_path))
    assert [row["bag"] for row in rows] == ["a,b.png", "flower.png"]
    answer = Analyst(photo_model).answer("image", Question(flower, 8))
    for label in answer["labels"]:
        assert float(rows[1][f"score:{label['name']}"]) == pytest.approx(label["score"])
    cards.nth(2).click()
    expect(page.locator("#canvas")).to_have_attribute("aria-label", "flower.png with 8 regions outlined")
    expect(page.locator("#gallery")).to_be_visible()


def test_corrections_are_bags_that_train_takes(photo_page, photo_model, photos, make_file, tmp_path, monkeypatch):
    page = photo_page
    page.locator("#correct summary").click()
    page.locator("#correct").get_by_label("sky").check()
    page.get_by_role("button", name="Keep this correction").click()
    choose_file(page, "flower.png", make_file(photos["flower"][::2, ::2]))
    wait_for_answer(page, "flower")
    page.get_by_role("button", name="Keep this correction").click()
    expect(page.locator("#kept-count")).to_have_text("2 corrections")
    file = downloaded(page, "#corrections", tmp_path)
    bags = BagDataset.load(file)
    assert bags.bag_names.tolist() == ["mine.png", "flower.png"]
    assert set(bags.label_sets()[0]) == {"cat", "sky"}
    assert bags.label_names.tolist() == photo_model.label_names_.tolist()
    photo_model.builder_.check_same(bags.builder)
    monkeypatch.chdir(tmp_path)
    demo.photo_bags(photos, 4, 0).save("photos.bags")
    assert main(["train", "photos.bags", file.name, "-o", "new.cfmgml", "--alpha", "1e-4"]) == 0
    assert CfMGML.load("new.cfmgml").label_names_.tolist() == photo_model.label_names_.tolist()


def test_texts_are_corrected_one_by_one(open_page, tmp_path):
    """All that is typed has one name on the page, and each its own in the file."""
    page = open_page(address="#model=texts")
    wait_for_answer(page, "2 sentences")
    page.locator("#correct summary").click()
    for number, (text, label) in enumerate((("Cells grow fast.", "growth"), ("Vessels carry blood.", "vessels"))):
        page.get_by_label("A text, cut into sentences").fill(text)
        page.get_by_role("button", name="Read it").click()
        expect(page.locator("#reading .sentence", has_text=text)).to_be_visible()
        for box in page.locator("#correct-labels input").all():
            box.set_checked(box.get_attribute("value") == label)
        page.get_by_role("button", name="Keep this correction").click()
        expect(page.locator("#kept-count")).to_contain_text(f"{number + 1} correction")
    bags = BagDataset.load(downloaded(page, "#corrections", tmp_path))
    assert bags.bag_names.tolist() == ["Your text", "Your text (2)"]
    assert bags.label_sets() == [["growth"], ["vessels"]]
    page.locator("#forget").click()
    expect(page.locator("#kept")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_paper_has_the_answer_and_no_buttons(open_page, photo_model, scheme):
    page = open_page(scheme)
    wait_for_answer(page, "Found cat")
    page.locator("#labels button").first.click()
    wait_for_answer(page, "Showing what speaks for cat")
    words, n_sheets = printed(page)
    for told in (*photo_model.label_names_.tolist(), "What speaks for cat", "decides", "Labels of the whole"):
        assert letters(told) in words
    for score in page.locator("#labels .score, #graphs .score").all_inner_texts():
        assert score in words
    for press in ("Choose images", "Take it home", "Correct the labels", "at most", "opacity"):
        assert letters(press) not in words
    assert n_sheets <= 3


def test_paper_is_white_whatever_the_screen_is(open_page):
    page = open_page("dark")
    wait_for_answer(page, "Found cat")
    if is_firefox(page):
        not_in_this_browser("Debian's Firefox cannot be told to imitate paper; what it prints is tested above")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_forced_colours_keep_their_meaning(open_page):
    page = open_page("forced", address="#model=texts")
    wait_for_answer(page, "2 sentences")
    page.get_by_label("A text, cut into sentences").fill("Vessels carry blood. Immune cells attack Xanadu.")
    page.get_by_role("button", name="Read it").click()
    expect(page.locator("mark.unknown")).to_have_text("Xanadu")
    page.locator("#labels button").first.click()
    wait_for_answer(page, "Showing what speaks for")
    signs = page.evaluate(
        "Array.from(document.querySelectorAll('mark'), e => [e.className, getComputedStyle(e, '::after').content])"
    )
    known = {"for": '"+"', "for strong": '"+"', "against": '"\u2212"', "against strong": '"\u2212"', "unknown": "none"}
    assert {name for name, _ in signs} & {"for", "for strong"}
    assert all(known[name] == sign for name, sign in signs)  # a word never seen speaks neither way
    assert page.locator("#labels .row[aria-pressed=true]").evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
