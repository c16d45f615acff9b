"""The models that `cfmgml demo --serve` shows: trained here, nothing fetched, and right about their samples."""

import numpy as np
import pytest

from cfmgml.data.questions import Question
from cfmgml.demo import letters
from cfmgml.demo import models as demo
from cfmgml.web.answers import Analyst


@pytest.fixture(scope="module")
def exhibits():
    return demo.demo_exhibits(n_crops=3, n_bags=240, cache_dir=False)


@pytest.fixture(scope="module")
def photos():
    return {name: pixels for name, pixels in demo.load_photos().items() if name in ("chelsea", "china", "flower")}


@pytest.mark.slow
def test_photos(exhibits):
    shown = exhibits["photos"]
    analyst = Analyst(shown.model)
    assert {sample.title for sample in shown.samples} == set(demo.SUBJECTS)
    for sample in shown.samples[:3]:
        best = analyst.answer("image", Question(sample.data))["labels"][0]["name"]
        assert best in {subject.label for subject in demo.SUBJECTS[sample.title]}


@pytest.mark.slow
def test_digits_that_were_not_seen(exhibits):
    shown = exhibits["digits"]
    seen = set(demo.load_digit_bags("train", 300).graph_names.tolist())
    n_shown = sum(demo.STRIP_LENGTHS)
    assert seen.isdisjoint(map(str, demo.digit_numbers()[::-1][:n_shown]))
    right, total = 0, 0
    for sample in shown.samples:
        answer = Analyst(shown.model).answer("image", Question(sample.data))
        best = [int(np.argmax(graph["scores"])) for graph in answer["graphs"]]
        right += sum(str(a) == b for a, b in zip(best, sample.title.split(), strict=True))
        total += len(best)
    assert total == n_shown
    assert right >= 0.8 * total


def test_crops_are_labelled_by_what_fills_them(photos):
    bags = demo.photo_bags(photos, n_crops=3, seed=1)
    assert bags.n_bags == 9
    assert bags.Y.any(axis=1).all()
    again = demo.photo_bags(photos, n_crops=3, seed=1)
    assert again.fingerprint() == bags.fingerprint()
    whole = (0.0, 0.0, 1.0, 1.0)
    cat = demo.SUBJECTS["chelsea"][0]
    assert cat.share(whole) == pytest.approx(0.8)
    assert cat.share((0.8, 0.0, 1.0, 1.0)) == pytest.approx(0.0)


def test_letters_written_by_hand():
    """Sentences, too, though only letters had labels; nobody is warned of them, but of a letter on something else."""
    shown = letters.letters_exhibit()
    analyst = Analyst(shown.model)
    for sample in shown.samples:
        answer = analyst.answer("text", Question(sample.content))
        best = [answer["label_names"][int(np.argmax(graph["scores"]))] for graph in answer["graphs"]]
        assert best == list(sample.truth)
        assert {label["name"] for label in answer["labels"] if label["predicted"]} == set(sample.truth)
        assert all(0 <= label["probability"] <= 1 for label in answer["labels"])
        assert answer["familiarity"]["warning"] is None
    strange = analyst.answer(
        "text", Question("Quarterly profit rose by ten percent as the bank merged with its rival.")
    )
    assert "1 of 1 sentence is unlike anything in training" in strange["familiarity"]["warning"]
