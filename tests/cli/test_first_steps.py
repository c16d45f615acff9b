"""What a newcomer types: short help, words nearly right, raw input where bags are wanted, and what messages say."""

import ast
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import cfmgml
from cfmgml import CfMGML
from cfmgml.cli import COMMANDS, main
from cfmgml.common.tables import read_table
from cfmgml.datasets import load_digit_bags


@pytest.fixture
def errors(capsys):
    def run(*words, status=None):
        done = main([str(word) for word in words])
        assert done != 0 if status is None else done == status
        return capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    "command", [[], *([name] for name in COMMANDS), *(["build", kind] for kind in ("images", "text", "molecules"))]
)
def test_short_help(command, capsys):
    assert main([*command, "-h"]) == 0
    assert f"Usage: {' '.join(['cfmgml', *command])}" in capsys.readouterr().out


@pytest.mark.parametrize("command", [[], ["build"]])
def test_the_list_of_commands_is_whole(command, capsys):
    assert main([*command, "-h"]) == 0
    listed = capsys.readouterr().out.partition("Commands:")[2]
    assert not re.search(r"\w\.\.\.$", listed, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["train", "x.bags", "-o", "y", "--nonsense"], "cfmgml train --help"),
        (["build", "images", "x", "-o", "y", "--nonsense"], "cfmgml build images --help"),
        (["nonsense"], "cfmgml --help"),
        (["build", "nonsense"], "cfmgml build --help"),
    ],
)
def test_the_command_to_try(words, asked, errors):
    assert errors(*words, status=2).strip().endswith(f"Try: {asked}")


@pytest.mark.parametrize(
    ("said", "meant"), [("texts", "text"), ("image", "images"), ("graph", "graphs"), ("digit", "digits")]
)
def test_kinds_by_one_or_many(said, meant, capsys):
    assert main(["build", said, "--help"]) == 0
    assert f"cfmgml build {meant}" in capsys.readouterr().out


def test_raw_input_says_build_first(tmp_path, errors):
    (tmp_path / "papers.jsonl").write_text('{"text": "Cells grow.", "labels": ["a"]}\n')
    (tmp_path / "pills.csv").write_text("smiles,labels\nCCO,a\n")
    (tmp_path / "photos").mkdir()
    Image.fromarray(np.zeros((9, 9, 3), dtype=np.uint8)).save(tmp_path / "photos" / "a.png")
    Image.fromarray(np.zeros((9, 9, 3), dtype=np.uint8)).save(tmp_path / "photos" / "b.png")
    (tmp_path / "photos" / "labels.csv").write_text("file,labels\na,x\n")
    for name, command in (
        ("papers.jsonl", "build text {} -o papers.bags"),
        ("pills.csv", "build molecules {} -o pills.bags"),
        ("photos", "build images {} --labels LABELS.csv -o photos.bags"),
    ):
        path = tmp_path / name
        for words in (["train", path], ["train", path, "-o", tmp_path / "m"], ["evaluate", path]):
            assert errors(*words, status=1).strip().endswith(f"build these first, with cfmgml {command.format(path)}")


def test_raw_input_is_no_file_to_inspect(tmp_path, errors):
    (tmp_path / "papers.jsonl").write_text('{"text": "Cells grow.", "labels": ["a"]}\n')
    assert "build these first, with cfmgml build text" in errors("inspect", tmp_path / "papers.jsonl", status=1)


def test_a_table_of_labels_is_given_with_what_it_labels(tmp_path, errors):
    table = tmp_path / "labels.csv"
    table.write_text("file,labels\na.png,x\n")
    said = errors("train", table, "-o", tmp_path / "m", status=1)
    assert said.strip().endswith(f"give it with them: cfmgml build images FOLDER --labels {table} -o data.bags")
    photos = tmp_path / "photos"  # where it does not count for what the folder holds
    photos.mkdir()
    table.rename(photos / "labels.csv")
    Image.fromarray(np.zeros((9, 9, 3), dtype=np.uint8)).save(photos / "a.png")
    assert "cfmgml build images" in errors("train", photos, "-o", tmp_path / "m", status=1)


def test_build_without_a_kind_shows_the_kinds(errors):
    said = errors("build", status=2)
    assert said.startswith("Usage: cfmgml build")
    assert any(line.split()[:1] == ["images"] for line in said.splitlines())


def test_no_message_speaks_of_info():
    """A person at a terminal has no `info`: messages name a command, or say what is wrong."""
    root = Path(cfmgml.__file__).parent
    raised = [
        f"{file.relative_to(root)}:{node.lineno}"
        for file in root.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Raise | ast.Call)
        and (isinstance(node, ast.Raise) or getattr(node.func, "attr", getattr(node.func, "id", "")) in ("warn", "say"))
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and "info[" in part.value
    ]
    assert not raised


def test_train_takes_bags_and_their_corrections(tmp_path, monkeypatch, errors):
    monkeypatch.chdir(tmp_path)
    bags = load_digit_bags(n_bags=40)
    bags[:30].save("a.bags")
    replace(bags[30:], graph_Y=None, graph_names=None).save("b.bags")  # as corrections, which know less
    bags.save("all.bags")
    assert main(["train", "a.bags", "b.bags", "-o", "joined.cfmgml", "--kernel", "nodes", "--alpha", "1e-3"]) == 0
    assert main(["train", "all.bags", "-o", "whole.cfmgml", "--kernel", "nodes", "--alpha", "1e-3"]) == 0
    joined, whole = CfMGML.load("joined.cfmgml"), CfMGML.load("whole.cfmgml")
    np.testing.assert_allclose(joined.decision_function(bags), whole.decision_function(bags))
    replace(bags, Y=bags.Y[:, ::-1], label_names=bags.label_names[::-1]).save("other.bags")
    assert "must have the same, in one order" in errors("train", "a.bags", "other.bags", "-o", "m", status=1)


def test_inspect_lists_what_was_left_out_and_what_has_no_label(tmp_path, capsys, rng):
    folder = tmp_path / "photos"
    folder.mkdir()
    for name in ("a", "b", "c"):
        Image.fromarray(rng.integers(0, 256, (48, 48, 3), dtype=np.uint8)).save(folder / f"{name}.png")
    (folder / "broken.png").write_bytes(b"no picture")
    (folder / "no_row.png").write_bytes((folder / "a.png").read_bytes())
    (tmp_path / "labels.csv").write_text("file,labels\na.png,cow;sky\nb.png,\nc.png,sky\nbroken.png,cow\n")
    made = tmp_path / "photos.bags"
    words = ["build", "images", folder, "--labels", tmp_path / "labels.csv", "--features", "paper", "-o", made]
    assert main([*map(str, words), "--on-error", "skip"]) == 0
    said = capsys.readouterr().err
    assert "1 of 4 images were skipped" in said
    assert "cfmgml inspect lists all of them" in said
    assert "info[" not in said
    assert main(["inspect", str(made)]) == 0
    shown = capsys.readouterr().out
    left_out = shown.partition("left out:")[2].splitlines()[1:3]
    assert left_out[0].strip() == "no_row.png: it has no row in labels.csv"
    assert left_out[1].strip().startswith("broken.png: ")
    assert "without any: b" in shown


@pytest.mark.slow
def test_predictions_join_with_the_table_of_labels(tmp_path, monkeypatch, rng):
    """Bags are called as their files are, suffix and all."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "photos").mkdir()
    rows = ["file,labels"]
    for number in range(6):
        pixels = np.full((40, 40, 3), 40 + 170 * (number % 2), dtype=np.uint8) + rng.integers(
            0, 20, (40, 40, 3), dtype=np.uint8
        )
        Image.fromarray(pixels).save(tmp_path / "photos" / f"p{number}.png")
        rows.append(f"p{number}.png,{'light' if number % 2 else 'dark'}")
    (tmp_path / "labels.csv").write_text("\n".join(rows))
    for command in (
        "build images photos --labels labels.csv --features paper -o photos.bags",
        "train photos.bags -o photos.cfmgml --alpha 1e-3",
        "predict photos.cfmgml photos -o found.csv --draw drawn --masks painted",
    ):
        assert main(command.split()) == 0
    known = {row["file"]: row["labels"] for row in read_table("labels.csv")}
    assert {row["bag"]: row["labels"] for row in read_table("found.csv")} == known
    for folder in ("drawn", "painted"):
        assert {"p0.png", "p5.png"} <= {file.name for file in (tmp_path / folder).iterdir()}
