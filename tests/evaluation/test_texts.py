"""Bags of texts are always compared with tf-idf."""

import json

import numpy as np
import pytest

from cfmgml.cli import main

WORDS = {"music": ["violin", "singer", "drums", "concert"], "sport": ["goal", "referee", "league", "stadium"]}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows = []
    for k in range(20):
        topics = [topic for topic in WORDS if rng.random() < 0.5] or ["music"]
        text = " ".join(f"The {' and '.join(rng.choice(WORDS[topic], 3))} were good." for topic in topics)
        rows.append(json.dumps({"id": k, "text": text, "labels": topics}))
    (tmp_path / "letters.jsonl").write_text("\n".join(rows))
    monkeypatch.chdir(tmp_path)


def evaluate(capsys, *options):
    assert main(["build", "text", "letters.jsonl", "-o", "letters.bags", *options]) == 0
    quick = ["--folds", "2", "--inner", "2", "--n-jobs", "1"]
    assert main(["evaluate", "letters.bags", "--methods", "dummy", *quick]) == 0
    return capsys.readouterr()


def test_tf_idf_is_in_the_table_whatever_is_asked_for(folder, capsys):
    told = evaluate(capsys)
    assert "| Tf-idf |" in told.out
    assert "baseline of tf-idf is missing" not in told.err


def test_without_texts_its_absence_is_told(folder, capsys):
    told = evaluate(capsys, "--no-text", "--stop-words", "none")
    assert "| Tf-idf |" not in told.out
    assert "baseline of tf-idf is missing" in told.err.replace("\n", " ")
