"""Texts of a megabyte that are made to take long: every step from a text to its words takes time in proportion."""

import time
import unicodedata

import pytest

from cfmgml.builders.texts.former_sentences import former_sentences
from cfmgml.builders.texts.keywords import Spelling, normal_form, word_key, words
from cfmgml.builders.texts.sentences import split_sentences
from cfmgml.datasets import bags_from_texts

SIZES = 2**12, 2**14, 2**16, 2**18, 2**20  # so that quadratic time fails long before the megabyte
SECONDS = 5.0  # of CPU; each takes well under one
UNITS = {
    "dots": ".",
    "abbreviations": "e.g. ",
    "dots and dashes": ". — ",
    "wide stops": "。」",
    "wide dots": "．",
    "guillemets": ". » »",
    "Han": "漢",
    "marks": ".!?…",
    "dots and brackets": ".)",
    "dots and quotes": '."',
    "dots and spaces": ". ",
    "dots and newlines": ".\n",
    "capitals": "A",
    "initials": "A. ",
    "brackets": "([",
    "closing brackets": ")]",
    "quotes": "\"'",
    "curly quotes": "“”",
    "newlines": "\n",
    "lines": "\n x",
    "spaces": " ",
    "kinds of space": "\n\t \r\x1c\u2003",
    "full stops without spaces": "。",
    "underscores": "_a",
    "endings": "ing",
    "other endings": "ations",
    "digits": "1",
    "marks in classes out of order": "\u0301\u0323",
    "kana marks": "\uff9e\u0301",
    "letters with marks": "क\u094d",
}


def seconds(task, *arguments):
    start = time.process_time()
    task(*arguments)
    return time.process_time() - start


def of_length(unit, size):
    return (unit * (size // len(unit) + 1))[:size]


@pytest.mark.slow
@pytest.mark.parametrize("before", ["", "."])
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_sentences_take_time_in_proportion(unit, before):
    for size in SIZES:
        text = before + of_length(unit, size)
        assert seconds(split_sentences, text) < SECONDS, size
        assert seconds(former_sentences, text) < SECONDS, size


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_words_take_time_in_proportion(unit):
    for size in (size // 4 for size in SIZES):  # a mark or a letter has up to four bytes
        assert seconds(words, of_length(unit, size), Spelling(stem=True)) < SECONDS, size


def test_a_stem_takes_time_in_proportion():
    for size in SIZES:
        assert seconds(word_key, of_length("ing", size), True) < SECONDS, size


@pytest.mark.parametrize("unit", [".", "A. ", "A b. ", "ing", "क\u094d", "\u0301\u0323"])
def test_bags_take_time_in_proportion(unit):
    for size in (2**12, 2**14, 2**16):
        assert seconds(bags_from_texts, [of_length(unit, size)]) < SECONDS, size


def test_the_normal_form_of_ordinary_text_is_nfkc():
    for text in ("", "plain", "ﬁne Å é ½", "संधि", "a" + "\u0323\u0301" * 15, "カ\uff9eキ", "Z" + "\u0301" * 30):
        assert normal_form(text) == unicodedata.normalize("NFKC", text)


def test_a_run_of_marks_is_normalised_piece_by_piece():
    text = "a" + "\u0301\u0323" * 40
    pieces = normal_form(text).split("\u034f")
    assert len(pieces) == 3
    assert pieces[0] == unicodedata.normalize("NFKC", "a" + "\u0301\u0323" * 15)
    assert [word.surface for word in words(text)] == [normal_form(text)]  # one word, as before


@pytest.mark.parametrize("unit", ["\u0301\u0323", "\u0344", "\uff9e\u0301", "\u0f73\u0301"])
def test_a_normal_form_is_its_own(unit):
    """Places of words are places in the normal form, whether a text was brought into it before or not."""
    once = normal_form("a" + unit * 100 + " b")
    assert normal_form(once) == once


TEXT = """Cells grow (Fig. 2). "Do they?" Yes, e.g. T. cruzi grows... Slowly! It is 3.5 cm long. 12 of them died.
See Smith et al. 2004 and refs. 3-5.) The next. [Also this.] «Quoted.» Ends?! ¿Qué? ok. lower case. Übung.

A paragraph without a stop

and another one. Dr. Who vs. Prof. X. End.”  ‘Then’ 我爱你。你呢？ यह वाक्य है। दूसरा।"""
SENTENCES = [
    "Cells grow (Fig. 2).",
    '"Do they?"',
    "Yes, e.g. T. cruzi grows...",
    "Slowly!",
    "It is 3.5 cm long.",
    "12 of them died.",
    "See Smith et al. 2004 and refs. 3-5.)",
    "The next.",
    "[Also this.]",
    "«Quoted.»",
    "Ends?!",
    "¿Qué? ok. lower case.",
    "Übung.",
    "A paragraph without a stop",
    "and another one.",
    "Dr. Who vs. Prof. X. End.”",
    "‘Then’ 我爱你。",
    "你呢？",
    "यह वाक्य है।",
    "दूसरा।",
]


def test_sentences_of_ordinary_text():
    assert split_sentences(TEXT) == SENTENCES


AS_GIVEN = [
    "H₂O, ½ x², ﬁne",
    "气温３．５度，很好",
    "e\u0301te\u0301 ﬁn",
    "ﾊﾞﾝ ㈱ \u1112\u1161\u11ab\u1100\u1173\u11af ok",
    "\u0301a\u0301 ㎏",
]


@pytest.mark.parametrize("text", AS_GIVEN)
def test_words_stand_in_the_text_as_it_was_given(text):
    found = words(text)
    assert found
    for word in found:
        assert word.surface in normal_form(text[word.start : word.stop])  # ㈱ is written (株)
        assert word.stop - word.start <= 3 * len(word.surface)


@pytest.mark.parametrize("unit", [*UNITS.values(), "½", "ﬁ ", "\u1112\u1161\u11ab", "ﷺ"])
def test_words_do_not_overlap(unit):
    text = "ａ" + of_length(unit, 300)
    places = [place for word in words(text, Spelling(numbers=True)) for place in (word.start, word.stop)]
    assert places == sorted(places)
    assert all(0 <= place <= len(text) for place in places)
