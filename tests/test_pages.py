"""README and the pages of docs are followed word for word, as the guides are (test_guides.py; api.md in web/)."""

import gzip
import json
import re
import sys
from urllib.request import urlopen

import pytest

from cfmgml import CfMGML, NodeSum
from cfmgml.datasets import bags_from_texts, load_digit_bags
from doc_pages import PAGES, RESULTS, ROOT, blocks, check_command, commands, follow, serving
from made_up import make_collection, make_photos, make_texts, write_up
from needs import needs

KINDS = [("sh", ""), ("python", ""), ("text", "")]
FOLLOWED = {  # guides: test_guides.py; the API of the server: web/
    "README.md", "docs/index.md", "docs/start.md", "docs/choosing.md", "docs/scale.md", "docs/data.md", "docs/api.md",
    "docs/reference/index.md", "docs/results/reproduction.md",
    *(page for page in PAGES if "/guides/" in page and page != "docs/guides/index.md"),
}  # fmt: skip
WITH_SERVER = {"docs/api.md", "docs/guides/serving.md", "docs/reference/index.md"}  # run by tests of their own
SERVED = [
    ("sh", "server"),
    ("sh", "client"),
    ("python", "client"),
    ("python", "server"),
    ("python", "grakel"),
    ("nginx", ""),
]


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


@pytest.mark.slow
def test_landing_page(tmp_path, monkeypatch):
    """The server of its second command starts, and is asked for its page."""
    monkeypatch.chdir(tmp_path)
    follow("docs/index.md")


@pytest.mark.slow
@pytest.mark.parametrize("page", ["docs/start.md", "docs/choosing.md"])
def test_first_steps(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = follow(page)
    assert known["model"].score(known.get("test", known.get("bags"))) > 0.8


@pytest.mark.slow
def test_reference(tmp_path, monkeypatch):
    """What has no example in its docstring has one on the page."""
    monkeypatch.chdir(tmp_path)
    page = "docs/reference/index.md"
    follow(page)
    by_name = {block.name: block.body for block in blocks(page) if block.language == "python" and block.name}
    assert set(by_name) == {"grakel", "server"}
    if sys.version_info < (3, 13):  # GraKeL has no wheel for more
        needs("grakel")
        exec(by_name["grakel"], {})
    CfMGML(NodeSum(), alpha=1e-3, max_iter=20).fit(load_digit_bags(n_bags=10)).save("digits.cfmgml")
    body = by_name["server"].replace("port=8000", "port=0")
    with serving([sys.executable, "-c", body]) as address, urlopen(address) as answer:
        assert b"<title>" in answer.read()


def test_hours_of_the_reproduction(monkeypatch, capsys):
    """They are counted from the rows, and stand in the text."""
    monkeypatch.chdir(ROOT)
    follow_python("docs/results/reproduction.md")
    n_rows, n_sittings, cpu, wall = map(float, capsys.readouterr().out.split())
    text = (ROOT / "docs/results/reproduction.md").read_text(encoding="utf-8")
    assert f"{n_rows:,.0f} of them" in text
    assert f"{n_sittings:.0f} sittings" in text
    assert f"{cpu:.1f} hours of CPU time in fits and {wall:.1f} hours of wall time" in text


def follow_python(page):
    for block in blocks(page):
        if block.language == "python" and not block.reason:
            exec(block.body, {})


@pytest.mark.parametrize("page", RESULTS)
def test_commands_of_results_could_be_run(page):
    for block in blocks(page):
        if block.language in ("", "sh") and not block.reason:
            for line in commands(block.body):
                check_command(line)


def test_every_page_with_code_is_followed():
    """Whatever page is added: its code is run by a test, which is named by adding the page here."""
    ran = {"sh", "python"}
    with_code = {page for page in PAGES if any(b.language in ran and not b.reason for b in blocks(page))}
    only_commands = {page for page in RESULTS if all(b.language != "python" or b.reason for b in blocks(page))}
    assert with_code - only_commands == FOLLOWED


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_what_it_is(page):
    """And none that is code passes for text: commands and programs have their language, or a reason not to be run."""
    for block in blocks(page):
        kind = block.language, block.name
        if block.language.startswith("{") or (page in RESULTS and kind == ("", "")):  # Sphinx's; commands, see above
            continue
        known = kind in KINDS or (kind[0] == "python" and kind[1].endswith(".py"))
        server = page in WITH_SERVER and kind in SERVED
        assert known or server, f"{page}, line {block.line}: sh, python or text must follow the fence, got {kind}"
        if block.language == "text":
            assert not re.search(r"^(\$|cfmgml|python|pip|make|curl|import|from) ", block.body, re.MULTILINE), (
                block.line
            )


def test_few_blocks_are_not_run():
    left_out = [(page, block.line, block.reason) for page in PAGES for block in blocks(page) if block.reason]
    assert len(left_out) <= 3, left_out
    comments = sum(("\n" + (ROOT / page).read_text(encoding="utf-8")).count("\n<!-- not run") for page in PAGES)
    assert comments == len(left_out), "a comment stands on the line above its block"


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[\w-]+)?\)", (ROOT / page).read_text(encoding="utf-8")):
        assert target.startswith("http") or ((ROOT / page).parent / target).exists(), target
