"""Sentences in several languages: none is cut where it does not end, and all are built, trained on and shown."""

import pytest

from cfmgml import CfMGML
from cfmgml.builders.texts.answering import answer_text
from cfmgml.builders.texts.former_sentences import former_sentences
from cfmgml.builders.texts.sentences import split_sentences
from cfmgml.datasets import bags_from_texts
from cfmgml.web.limits import Limits

LANGUAGES = {
    "German": [
        "Im 19. Jahrhundert lebte Karl I. von Österreich, d. h. lange vor dem 2. Weltkrieg.",
        "Er starb am 3. Mai 1801 um 5.30 Uhr.",
        "Prof. Dr. Müller, geb. 1950, weiß es z. B. aus Bd. 3, S. 12 usw.",
        "Die Antwort kostet 3,5 Mio. Euro bzw. mehr.",
        "„Wirklich?“",
        "Ja!",
    ],
    "French": [
        "M. Dupont et Mme Martin habitent au no. 5, p. ex. à Paris.",
        "Ils parlent de l’an 70 av. J.-C. et de J.-P. Sartre.",
        "« Vraiment ? »",
        "C’est vrai, cf. fig. 2 et vol. 3, etc.",
        "Le reste vaut 3,5 env. 40 %.",
    ],
    "Russian": [
        "А. С. Пушкин родился в 1799 г. в Москве.",
        "В 1837 г. он умер, т. е. молодым, и т. д.",
        "Это стоит 3,5 тыс. руб. за 40 кг, см. рис. 2 на с. 15.",
        "— Правда?",
        "— Да, и др. тоже!",
    ],
    "Arabic": ["قال د. أحمد إن النتيجة هي 3.5 تقريبا.", "هل هذا صحيح؟", "نعم، كتب م. علي ذلك.", "انتهى!"],
    "Chinese": ["他说：“我去。”", "她笑了。", "结果是3.5，很好！", "真的吗？", "“好的。”他说。", "结束了……也许。"],
    "Japanese": [
        "「行きます。」と彼は言った。", "気温は３．５度です。", "本当ですか？", "はい！",
        "値は0.5，結果は良い．", "次へ。",
    ],
}  # fmt: skip


@pytest.mark.parametrize("sentences", LANGUAGES.values(), ids=LANGUAGES)
def test_no_sentence_is_cut_where_it_does_not_end(sentences):
    space = "" if any("\u3000" <= letter <= "\u9fff" for letter in sentences[0]) else " "
    assert split_sentences(space.join(sentences)) == sentences


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_of_a_language_are_built_trained_on_and_shown(language):
    sentences = LANGUAGES[language]
    bags = bags_from_texts([sentences[:2], sentences[2:], sentences[:1], sentences[3:]], [[1, 0], [0, 1]] * 2)
    assert bags.info["n_without_keywords"] == 0
    model = CfMGML(alpha=1e-2, max_iter=5).fit(bags)
    text = (" " if language not in ("Chinese", "Japanese") else "").join(sentences)
    reply = answer_text(text, model.builder_, Limits(texts=64, body_bytes=2**20))
    assert [part["text"] for part in reply.shown["texts"]] == sentences
    assert all(part["marks"] for part in reply.shown["texts"])
    assert model.predict(reply.bag).shape == (1, 2)


MORE_LANGUAGES = [
    ["El Sr. García vive en EE. UU. desde 1990.", "¿Por qué?", "Trabaja en la pág. 5."],
    ["Il dott. Rossi abita in via Roma, n. 5.", "È vero?"],
    ["Prof. Kowalski mieszka przy ul. Długiej 5.", "Pracuje m.in. w domu."],
    ["Dhr. Jansen woont bijv. in Amsterdam.", "Hij werkt."],
    ["Der 1. FC Köln gewann 3:2.", "Dr. med. Beck und Dr. rer. nat. Abel sahen zu, s. Bd. 2 u. Tab. 4.", "Er starb."],
    ["Il habite au 5 bd. Voltaire.", "C’est tout."],
    ["한국어 문장입니다.", "다음 문장입니다!", "정말요?"],
    ["डॉ. शर्मा आए।", "यह दूसरा है॥"],
    ["اردو جملہ ہے۔", "دوسرا۔"],
]


@pytest.mark.parametrize("sentences", MORE_LANGUAGES, ids=lambda sentences: sentences[0])
def test_further_languages(sentences):
    assert split_sentences(" ".join(sentences)) == sentences


ENGLISH = [
    (["Smith et al. (2004) found 3.5 mm, as did Lee et al.", "The rest is unknown."], "et al."),
    (["Expression fell.", "mRNA levels rose.", "p53 was lost.", "c-Myc too.", "β-catenin stayed."], "small letters"),
    (["It was so and so on. it stays small."], "a small letter begins nothing"),
    (["She said no.", "Then no. 5 left at 5 p.m.", "We stayed."], "a word and an abbreviation"),
    (["See Fig. 2, Eq. 3 and Sects. 4-6 vs. Table 1.", "P < .05 and 0.5.", "40 died."], "numbers"),
    (["Plan B.", "The U.S. Government and Dr. J. R. Smith Jr. agree."], "initials"),
    (["1. Introduction"], "the number of a heading"),
    (['"Done."', "(See above.)", "Really?!", "Yes... And more."], "quotes and brackets"),
]


@pytest.mark.parametrize(("sentences", "about"), ENGLISH, ids=[about for _, about in ENGLISH])
def test_english(sentences, about):
    expected = sentences if about != "quotes and brackets" else [*sentences[:-1], "Yes...", "And more."]
    assert split_sentences(" ".join(sentences)) == expected


def test_the_former_recipe_cuts_as_it_did():
    text = "Expression fell. mRNA levels rose. Am 3. Mai kam er."
    assert former_sentences(text) == ["Expression fell. mRNA levels rose.", "Am 3.", "Mai kam er."]
    assert bags_from_texts([text], recipe=2, pairs=False).n_graphs == 3
    assert bags_from_texts([text]).n_graphs == 3
    assert bags_from_texts([text]).graph_texts.tolist()[1] == "mRNA levels rose."
