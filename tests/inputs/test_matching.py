"""Which row is whose: exact names, one file or an error, and nothing that is silent."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfmgml.reading.matching import match_files, match_names
from file_input import graph_bags, image_bags, text_bags
from made_up import make_photos

SUFFIXES = [".jpg", ".png"]
FILES = [Path(name) for name in ("a/cow.png", "a/sky.png", "b/sky.png", "b/dog.jpg", "b/dog.png", "p.1.png", "q.png")]


def matched(rows, files=FILES):
    found = match_files(rows, files, SUFFIXES, "l.csv")
    return {file.as_posix(): key for file, key in zip(files, found.keys, strict=True) if key}, found.unmatched


@pytest.mark.parametrize(
    ("row", "file"),
    [
        ("cow.png", "a/cow.png"),
        ("cow", "a/cow.png"),
        ("a/cow", "a/cow.png"),
        ("./a/cow.png", "a/cow.png"),
        (str(Path.cwd() / "a" / "cow.png"), "a/cow.png"),
        (f"{Path.cwd().name}/a/cow.png", "a/cow.png"),
        ("b/sky", "b/sky.png"),
        ("dog.png", "b/dog.png"),
        ("p.1", "p.1.png"),
        ("cow.jpg", None),  # another file's labels
        ("Cow.png", None),
        ("c/cow.png", None),
        ("cow.pn", None),
        ("", None),
    ],
)
def test_a_row_is_of_one_file_or_of_none(row, file):
    found, unmatched = matched([row])
    assert found == ({} if file is None else {file: row})
    assert unmatched == ([row] if file is None else [])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["dog"], "l.csv has a row for 'dog', which may be b/dog.jpg or b/dog.png; write the name in full"),
        (["sky.png"], "'sky.png', which may be a/sky.png or b/sky.png; write the name with its folder"),
        (["cow", "cow.png"], "l.csv has two rows for cow.png: 'cow' and 'cow.png'"),
        (["a/cow.png", "cow.png"], "two rows for cow.png: 'a/cow.png' and 'cow.png'"),
    ],
)
def test_what_is_ambiguous_is_refused(rows, message):
    with pytest.raises(ValueError) as error:
        matched(rows)
    assert message in str(error.value)


def test_a_path_as_it_was_given_comes_first():
    assert matched(["p.png"], [Path("p.png"), Path("sub/p.png")]) == ({"p.png": "p.png"}, [])


@given(st.lists(st.sampled_from("abcdefgh"), unique=True), st.lists(st.sampled_from("abcdefgh"), unique=True))
def test_every_row_is_used_or_told_of(rows, names):
    for found in (
        match_names(rows, names, "l.csv"),
        match_files([f"{row}.png" for row in rows], [Path(f"{name}.png") for name in names], SUFFIXES, "l.csv"),
    ):
        assert len(found.keys) == len(names)
        assert len([key for key in found.keys if key]) + len(found.unmatched) == len(rows)
        assert len([key for key in found.keys if key]) == len(set(rows) & set(names))


# -- through the builders ----------------------------------------------------------------------


@pytest.fixture
def photos(tmp_path):
    make_photos(tmp_path / "photos", 2, masks=tmp_path / "masks")
    return tmp_path / "photos"


def build(photos, lines, **options):
    (photos.parent / "l.csv").write_text("\n".join(["image,labels", *lines]))
    return image_bags([photos], labels=photos.parent / "l.csv", n_jobs=1, **options)


def test_a_row_of_another_suffix_gives_no_labels(photos):
    with pytest.raises(ValueError, match="no row for p01.png .* its row for 'p01.jpg' is of no picture"):
        build(photos, ["p00.png,x", "p01.jpg,y"])
    with (
        pytest.warns(UserWarning, match="1 row of l.csv is about nothing that was read: 'p01.jpg'"),
        pytest.warns(UserWarning, match="1 of 2 pictures have no row"),
    ):
        bags = build(photos, ["p00.png,x", "p01.jpg,y"], on_error="skip")
    assert bags.bag_names.tolist() == ["p00.png"]
    assert bags.info["unmatched_rows"] == {"table": "l.csv", "n_rows": 1, "names": ["p01.jpg"]}


def test_with_both_files_each_has_its_own_labels(photos):
    (photos / "p01.jpg").write_bytes((photos / "p00.png").read_bytes())
    bags = build(photos, ["p00,x", "p01.jpg,y", "p01.png,z"])
    assert dict(zip(bags.bag_names.tolist(), bags.label_sets(), strict=True)) == {
        "p00.png": ["x"], "p01.jpg": ["y"], "p01.png": ["z"],
    }  # fmt: skip
    with pytest.raises(ValueError, match=r"'p01', which may be .*p01.jpg or .*p01.png; write the name in full"):
        build(photos, ["p00,x", "p01,y"])


def test_segment_labels_are_matched_alike(photos):
    (photos / "p01.jpg").write_bytes((photos / "p00.png").read_bytes())
    (photos.parent / "s.csv").write_text("image,segment,label\np00.png,1,x\np01,1,y\n")
    with pytest.raises(ValueError, match="'p01', which may be"):
        image_bags([photos], segments=photos.parent / "masks", segment_labels=photos.parent / "s.csv")


def test_labels_in_two_spellings_are_told_of(photos):
    with pytest.warns(UserWarning, match="the labels 'Cow' and 'cow' differ only in case or spaces"):
        bags = build(photos, ["p00.png,cow;grey sky", "p01.png,Cow;grass"])
    assert bags.info["alike_labels"] == [["Cow", "cow"]]
    assert bags.label_names.tolist() == ["Cow", "cow", "grass", "grey sky"]  # nothing is changed


def test_many_rows_of_nothing_are_counted(photos):
    with pytest.warns(UserWarning, match=r"30 rows of l.csv are about nothing that was read: 'q0', 'q1', 'q2', \.\.\."):
        bags = build(photos, ["p00.png,x", "p01.png,y", *(f"folder/q{k},x" for k in range(30))])
    assert len(bags.info["unmatched_rows"]["names"]) == 20


def test_texts_are_matched_by_file_or_by_id(tmp_path):
    (tmp_path / "t").mkdir()
    for name in ("a.txt", "b.txt"):
        (tmp_path / "t" / name).write_text("Cats purr.")
    (tmp_path / "l.csv").write_text("file,labels\na.txt,x\nb,y\n")
    assert text_bags([tmp_path / "t"], labels=tmp_path / "l.csv").label_sets() == [["x"], ["y"]]
    (tmp_path / "l.csv").write_text("file,labels\na.md,x\nb,y\n")
    with pytest.raises(ValueError, match="no row for a.txt "):
        text_bags([tmp_path / "t"], labels=tmp_path / "l.csv")
    (tmp_path / "d.csv").write_text("id,text\na.txt,Cats purr.\n")
    with pytest.raises(ValueError, match="no row for a.txt"):
        (tmp_path / "l.csv").write_text("id,labels\na,x\n")
        text_bags([tmp_path / "d.csv"], labels=tmp_path / "l.csv")


def test_bags_of_graphs_are_matched_by_bag_or_by_file(tmp_path):
    import networkx as nx

    (tmp_path / "g").mkdir()
    for name in ("a.graphml", "b.graphml"):
        nx.write_graphml(nx.path_graph(3), tmp_path / "g" / name)
    (tmp_path / "l.csv").write_text("bag,labels\na,x\nb.graphml,y\n")
    bags = graph_bags([tmp_path / "g"], labels=tmp_path / "l.csv")
    assert bags.label_sets() == [["x"], ["y"]]
    assert bags.info["overlap"]["n_shared_graphs"] == 1
    (tmp_path / "l.csv").write_text("bag,labels\na,x\nb.xml,y\n")
    with pytest.raises(ValueError, match="no row for bag b "):
        graph_bags([tmp_path / "g"], labels=tmp_path / "l.csv")
    (tmp_path / "l.csv").write_text("bag,labels\na,x\nb,y\nc,y\n")
    with pytest.warns(UserWarning, match="1 row of l.csv is about nothing that was read: 'c'"):
        graph_bags([tmp_path / "g"], labels=tmp_path / "l.csv")


# -- masks -------------------------------------------------------------------------------------


def test_masks_are_pictures(photos):
    masks = photos.parent / "masks"
    (masks / "p00.TXT").write_text("not a mask")
    (masks / "p00.aaa").mkdir()
    bags = image_bags([photos], segments=masks, n_jobs=1)
    assert bags.info["files"]["p00.png"] == ["photos/p00.png", "masks/p00.png"]


def test_two_masks_for_a_picture_are_refused(photos):
    masks = photos.parent / "masks"
    (masks / "p00.bmp").write_bytes((masks / "p00.png").read_bytes())
    with pytest.raises(ValueError, match="one mask, of its name; in .*masks there is p00.bmp and p00.png for p00.png"):
        image_bags([photos], segments=masks)


def test_one_mask_for_two_pictures_is_refused(photos):
    (photos / "p00.jpg").write_bytes((photos / "p00.png").read_bytes())
    with pytest.raises(ValueError, match="there is p00.png for p00.jpg and p00.png"):
        image_bags([photos], segments=photos.parent / "masks")
