"""Quick hands: whatever people do while the server works, the page shows the answer to the last thing they asked."""

import pytest

from page_actions import SLOW_FETCH, choose_file, drop_files, expect, wait_for_answer, wait_until

pytestmark = pytest.mark.slow


def test_a_late_answer_does_not_appear_under_another_tab(open_page):
    page = open_page(script=SLOW_FETCH)
    wait_for_answer(page, "Found cat")
    page.evaluate("slow['/photos/image'] = 2500")
    page.get_by_role("button", name="Sample: cat").click()
    page.get_by_role("radio", name="Texts").check()
    wait_for_answer(page, "2 sentences")
    wait_until(page, "late >= 1")  # the photo's answer has come meanwhile
    expect(page.locator("#status")).to_contain_text("2 sentences")
    expect(page.locator("#picture")).to_be_hidden()
    assert page.evaluate("document.body.classList.contains('busy')") is False


def test_a_late_sample_does_not_take_the_place_of_a_later_one(open_page):
    page = open_page(script=SLOW_FETCH, address="#model=digits")
    wait_for_answer(page, "4 digits")
    page.evaluate("slow['/samples/1'] = 2500")
    samples = page.locator("#samples button")
    samples.nth(1).click()
    samples.nth(2).click()
    wait_for_answer(page, "5 digits")
    wait_until(page, "late >= 1")
    expect(page.locator("#status")).to_contain_text("5 digits")
    assert [button.get_attribute("aria-pressed") for button in samples.all()] == ["false", "false", "true", "false"]


def test_thirty_quick_clicks(open_page):
    """The server is asked for the last of them; one that is busy is asked again when it says so."""
    page = open_page(address="#model=digits")
    wait_for_answer(page, "4 digits")
    asked = []
    page.on("request", lambda request: request.method == "POST" and asked.append(request.url))
    page.evaluate("for (let k = 0; k < 30; k++) document.querySelectorAll('#samples button')[k % 4].click()")
    wait_for_answer(page, "3 digits")
    expect(page.locator("#samples button").nth(1)).to_have_attribute("aria-pressed", "true")
    assert len(asked) == 1
    assert page.get_by_role("alert").is_hidden()


def test_a_busy_server_is_asked_again(open_page):
    page = open_page(script=SLOW_FETCH, address="#model=digits")
    wait_for_answer(page, "4 digits")
    page.evaluate("busy = 2")
    page.locator("#samples button").nth(2).click()
    wait_for_answer(page, "5 digits")
    assert page.evaluate("busy") == 0
    assert page.get_by_role("alert").is_hidden()


def test_a_bad_file_is_not_sent_again(open_page):
    page = open_page()
    wait_for_answer(page, "Found cat")
    choose_file(page, "notes.png", b"these are notes")
    page.get_by_role("alert").get_by_text("This is not a PNG").wait_for()
    expect(page.locator("#labels")).to_be_hidden()  # no older answer beside the error
    expect(page.locator("#picture")).to_be_hidden()
    asked = []
    page.on("request", lambda request: request.method == "POST" and asked.append(request.url))
    page.get_by_role("slider", name="Regions, at most").press("ArrowLeft")
    page.get_by_role("button", name="Sample: cat").click()
    wait_for_answer(page, "7 regions")
    assert len(asked) == 1  # about the sample


def test_the_slider_keeps_the_chosen_label(open_page):
    page = open_page()
    wait_for_answer(page, "8 regions")
    page.locator("#labels button").first.click()
    wait_for_answer(page, "Showing what speaks for cat")
    page.get_by_role("slider", name="Regions, at most").press("ArrowLeft")
    wait_for_answer(page, "7 regions")
    expect(page.locator("#labels button[aria-pressed=true] .name")).to_have_text("cat")
    expect(page.locator("#legend")).to_contain_text("What speaks for cat")


def test_a_reload_and_the_back_button_find_what_was_shown(open_page):
    page = open_page()
    wait_for_answer(page, "8 regions")
    page.get_by_role("slider", name="Regions, at most").press("ArrowLeft")
    wait_for_answer(page, "7 regions")
    page.locator("#labels button").first.click()
    page.reload()
    wait_for_answer(page, "7 regions")
    expect(page.locator("#legend")).to_contain_text("What speaks for cat")
    page.get_by_role("radio", name="Digits").check()
    wait_for_answer(page, "4 digits")
    page.locator("#samples button").nth(1).click()
    wait_for_answer(page, "3 digits")
    page.reload()
    wait_for_answer(page, "3 digits")
    expect(page.get_by_role("radio", name="Digits")).to_be_checked()
    page.go_back()
    wait_for_answer(page, "regions")
    expect(page.get_by_role("radio", name="Photos")).to_be_checked()


def test_a_file_dropped_on_the_page_for_texts_is_read(open_page, live):
    page = open_page(address="#model=texts")
    wait_for_answer(page, "2 sentences")
    drop_files(page, {"mine.txt": b"Vessels carry blood. Cells grow. Immune cells attack."})
    wait_for_answer(page, "3 sentences")
    expect(page.get_by_label("A text, cut into sentences")).to_have_value(
        "Vessels carry blood. Cells grow. Immune cells attack."
    )
    assert page.url.startswith(live)


def test_two_dropped_files_are_two(open_page, photo_file):
    page = open_page()
    wait_for_answer(page, "Found cat")
    drop_files(page, {"one.png": photo_file, "two.png": photo_file})
    expect(page.locator("#gallery-count")).to_have_text("2 inputs read.")
    assert page.locator("#cards .name").all_inner_texts() == ["one.png", "two.png"]
    wait_for_answer(page, "Found cat")  # the first is opened
    expect(page.locator("#canvas")).to_have_attribute("aria-label", "one.png with 8 regions outlined")
    page.get_by_role("button", name="Sample: cat").click()
    wait_for_answer(page, "Found cat")


def test_a_gallery_makes_way_for_what_is_asked_next(open_page, photo_file):
    page = open_page(script=SLOW_FETCH)
    wait_for_answer(page, "Found cat")
    page.evaluate("slow['/photos/image'] = 1500")
    drop_files(page, {f"{k}.png": photo_file for k in range(4)})
    page.get_by_role("radio", name="Texts").check()
    wait_for_answer(page, "2 sentences")
    wait_until(page, "late >= 1")  # of the first file; the others are not asked about
    expect(page.locator("#gallery")).to_be_hidden()
    expect(page.locator("#status")).to_contain_text("2 sentences")


def test_files_are_read_on_while_something_else_is_asked(open_page, photo_file):
    page = open_page(script=SLOW_FETCH)
    wait_for_answer(page, "Found cat")
    page.evaluate("slow['/photos/image'] = 600")
    drop_files(page, {f"{k}.png": photo_file for k in range(3)})
    expect(page.locator("#gallery-count")).to_contain_text("of 3")
    page.get_by_role("button", name="Sample: cat").click()
    expect(page.locator("#gallery-count")).to_have_text("3 inputs read.")
    wait_for_answer(page, "Found cat")
    expect(page.locator("#canvas")).to_have_attribute("aria-label", "Sample cat with 8 regions outlined")
    assert page.locator("#cards .hint").all_inner_texts() == ["cat"] * 3


def test_a_picture_dropped_on_the_page_for_texts_is_refused(open_page, photo_file):
    page = open_page(address="#model=texts")
    wait_for_answer(page, "2 sentences")
    before = page.get_by_label("A text, cut into sentences").input_value()
    drop_files(page, {"cat.png": photo_file})
    page.get_by_role("alert").get_by_text("cat.png is no text in UTF-8.").wait_for()
    expect(page.get_by_label("A text, cut into sentences")).to_have_value(before)
