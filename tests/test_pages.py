"""README and the pages of docs are followed word for word, as the guides are (test_guides.py; api.md in web/)."""

import gzip
import json
import re

import pytest

from cfmgml.datasets import bags_from_texts
from doc_pages import ROOT, blocks, follow
from made_up import make_collection, make_photos, make_texts, write_up

PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md"), *ROOT.glob("docs/guides/*.md")]
)
KINDS = [("sh", ""), ("python", ""), ("text", "")]
FOLLOWED = {"README.md", "docs/scale.md", "docs/data.md", "docs/api.md", *(p for p in PAGES if "/guides/" in p)}
WITH_SERVER = {"docs/api.md", "docs/guides/serving.md"}  # their tests run what is said to a server
SERVED = [("sh", "server"), ("sh", "client"), ("python", "client"), ("nginx", "")]


@pytest.mark.slow
def test_readme(tmp_path, monkeypatch, capsys):
    make_photos(tmp_path / "photos", 4, table=tmp_path / "labels.csv")
    make_photos(tmp_path / "new", 2, seed=1)
    monkeypatch.chdir(tmp_path)
    known = follow("README.md")
    printed = capsys.readouterr().out
    assert known["model"].score(known["test"]) > 0.9
    assert "average_precision" in printed
    assert str((known["test"].graphs.n_nodes, 10)) in printed
    lines = (tmp_path / "regions.csv").read_text().splitlines()
    assert {line.split(",")[0] for line in lines[1:]} == {"p00.png", "p01.png"}


@pytest.mark.slow
def test_scale(tmp_path, monkeypatch, capsys, rng):
    """Its ``bags`` are anybody's."""
    texts = [write_up(rng, kinds) for kinds in (["music"], ["sport"], ["music", "sport"], ["cooking"]) * 5]
    bags = bags_from_texts(texts, [[1, 0], [0, 1], [1, 1], [0, 0]] * 5, label_names=["music", "sport"])
    make_texts(tmp_path / "first.jsonl", 12)
    make_texts(tmp_path / "more.jsonl", 6, seed=1)
    monkeypatch.chdir(tmp_path)
    known = follow("docs/scale.md", {"bags": bags})
    assert known["K"].shape == (bags.n_graphs, bags.n_graphs)
    assert "\n  bags: 18\n" in capsys.readouterr().out  # both files' texts are in the store
    for made in ("scores/bags", "scores/graphs", "scores/nodes", "graphs.parquet", "sentences.cfmgml"):
        assert (tmp_path / made).exists(), made


def test_data(tmp_path, monkeypatch):
    """Its loaders read made-up collections of the real ones' layouts."""
    make_collection(tmp_path / "msrc_v2", 4)
    (tmp_path / "dblp_acm").mkdir()
    with gzip.open(tmp_path / "dblp_acm" / "papers.jsonl.gz", "wt", encoding="utf-8") as stream:
        stream.writelines(json.dumps(paper) + "\n" for paper in papers(12))
    monkeypatch.setenv("CFMGML_DATA", str(tmp_path))
    monkeypatch.setenv("CFMGML_CACHE", str(tmp_path / "cache"))
    known = follow("docs/data.md", change=[("/data", str(tmp_path))])
    assert known["bags"].n_bags == 8
    assert len(known["test"]) > 0


def papers(number):
    """Two of three cite the third; each three hang together and share no paper with another three."""
    for k in range(number):
        yield {
            "id": k, "field": "DB", "venue": "vldb", "topics": [["query"], ["index"]][k % 2], "title": "T",
            "references": [k - k % 3 + 2] if k % 3 < 2 else [], "links": [], "abstract": f"Query trees join {k}.",
        }  # fmt: skip


def test_every_page_with_code_is_followed():
    with_code = {page for page in PAGES if any(b.language in ("sh", "python") and not b.reason for b in blocks(page))}
    assert with_code == FOLLOWED


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_what_it_is(page):
    """And none that is code passes for text: commands and programs have their language, or a reason not to be run."""
    for block in blocks(page):
        kind = block.language, block.name
        known = kind in KINDS or (kind[0] == "python" and kind[1].endswith(".py"))
        server = page in WITH_SERVER and kind in SERVED
        assert known or server, f"{page}, line {block.line}: sh, python or text must follow the fence, got {kind}"
        if block.language == "text":
            assert not re.search(r"^(\$|cfmgml|python|pip|make|curl|import|from) ", block.body, re.MULTILINE), (
                block.line
            )


def test_few_blocks_are_not_run():
    left_out = [(page, block.line, block.reason) for page in PAGES for block in blocks(page) if block.reason]
    assert len(left_out) <= 5, left_out
    comments = sum(("\n" + (ROOT / page).read_text(encoding="utf-8")).count("\n<!-- not run") for page in PAGES)
    assert comments == len(left_out), "a comment stands on the line above its block"


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[\w-]+)?\)", (ROOT / page).read_text(encoding="utf-8")):
        assert target.startswith("http") or ((ROOT / page).parent / target).exists(), target
