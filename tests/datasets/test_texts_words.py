import pytest

from cfmgml.builders.texts.keywords import word_key, words
from cfmgml.builders.texts.sentences import split_sentences
from cfmgml.builders.texts.stop_words import FUNCTION_WORDS


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n ", []),
        ("No end", ["No end"]),
        ("One. Two! Three? Four… Five", ["One.", "Two!", "Three?", "Four…", "Five"]),
        ("He said “No.” She left.", ["He said “No.”", "She left."]),
        ("See Fig. 2 and Smith et al. Then e.g. IL-2 rose.", ["See Fig. 2 and Smith et al.", "Then e.g. IL-2 rose."]),
        ("By J. R. Smith. It is 3.5 mm wide.", ["By J. R. Smith.", "It is 3.5 mm wide."]),
        ("It is p.o. dosing and so on. it stays lower case.", ["It is p.o. dosing and so on. it stays lower case."]),
        ("Grew fast. 40 died. (All.) Ёлка растёт.", ["Grew fast.", "40 died.", "(All.)", "Ёлка растёт."]),
        ("First\n\nSecond\n \nThird", ["First", "Second", "Third"]),
        ("猫が好き。犬も！", ["猫が好き。", "犬も！"]),
        ("यह एक है। वह दो है।", ["यह एक है।", "वह दो है।"]),
    ],
)
def test_sentences(text, sentences):
    expected = (
        ["Grew fast.", "40 cells died.", "(All of them.)", "Ёлка растёт.", "Да."] if sentences is None else sentences
    )
    assert split_sentences(text) == expected


def test_sentences_lose_nothing_but_space():
    text = "One (Fig. 1). Two?  Three…\n\nFour. five"
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    "family",
    [
        ("metastasis", "metastases", "metastatic"),
        ("apoptosis", "apoptotic"),
        ("angiogenesis", "angiogenic"),
        ("migration", "migrating", "migrated", "migrates"),
        ("invasion", "invasive"),
        ("query", "queries"),
        ("classifier", "classifiers", "classified"),
        ("cell", "cells"),
        ("virus", "viruses"),
    ],
)
def test_forms_of_a_word_have_one_key(family):
    assert len({word_key(word, True) for word in family}) == 1


@pytest.mark.parametrize("word", ["class", "p53", "gene", "schön", "клетки", "data"])
def test_short_and_foreign_words_keep_their_endings(word):
    assert word_key(word, True) == word


def test_different_words_keep_different_keys():
    family = ["cell", "cellular", "process", "mutation", "mute", "index", "image", "imagine"]
    assert len({word_key(word, True) for word in family}) == len(family)


def test_words_know_where_they_stand():
    text = "Über-große p53_Zellen"
    assert [text[word.start : word.stop] for word in words(text)] == ["Über", "große", "p53", "Zellen"]
    assert [word.surface for word in words(text)] == ["Über", "große", "p53", "Zellen"]


def test_stop_words_are_casefolded_function_words():
    assert all(word == word.casefold() for word in FUNCTION_WORDS)
    assert not FUNCTION_WORDS & {"cell", "system", "gene", "query", "model"}
