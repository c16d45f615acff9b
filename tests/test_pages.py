"""README and the pages of docs are followed word for word, as the guides are (test_guides.py; api.md in web/)."""

import gzip
import json
import re
import sys
from urllib.request import urlopen

import pytest

from cfmgml import CfMGML, NodeSum
from cfmgml.datasets import bags_from_texts, load_digit_bags
from doc_pages import PAGES, ROOT, blocks, check_command, commands_in_text, follow, serving
from made_up import make_abstracts, make_collection, make_photos, make_texts, write_up
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
    (shown,) = (block.body for block in blocks("docs/scale.md") if block.language == "text")
    assert columns_of(tmp_path / "sentences") <= set(re.findall(r"\w+", shown))
    for made in ("scores/bags", "scores/graphs", "scores/nodes", "graphs.parquet", "sentences.cfmgml"):
        assert (tmp_path / made).exists(), made


def columns_of(store):
    """The names of its columns, and of the fields inside them."""
    types = [needs("pyarrow.parquet").read_schema(next(store.glob("*.parquet")))]
    names = set()
    while types:
        for field in types.pop():
            kind = getattr(field.type, "value_type", field.type)  # of a list: what it is a list of
            names.add(field.name)
            types += [kind] if hasattr(kind, "num_fields") and kind.num_fields else []
    return names


@pytest.mark.slow
def test_data(tmp_path, monkeypatch):
    """Its loaders read made-up collections of the real ones' layouts."""
    make_collection(tmp_path / "msrc_v2", 4)
    make_abstracts(tmp_path / "hoc_sentences")
    (tmp_path / "dblp_acm").mkdir()
    with gzip.open(tmp_path / "dblp_acm" / "papers.jsonl.gz", "wt", encoding="utf-8") as stream:
        stream.writelines(json.dumps(paper) + "\n" for paper in papers(12))
    monkeypatch.setenv("CFMGML_DATA", str(tmp_path))
    monkeypatch.setenv("CFMGML_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    known = follow("docs/data.md", change=[("/data", str(tmp_path)), ("DIR", str(tmp_path))])
    assert known["bags"].n_bags == 8
    assert len(known["test"]) > 0
    assert {path.name for path in (tmp_path / "out" / "sheets").iterdir()} == {"images.png", "texts.png"}


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


@pytest.mark.slow
def test_the_reproduction(tmp_path, monkeypatch, capsys):
    """On a made-up collection, with few methods and folds. Its hours are counted from the committed rows."""
    make_collection(tmp_path / "data" / "msrc_v2", 30)
    load_digit_bags(n_bags=20).save(tmp_path / "DATA.bags")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CFMGML_CACHE", str(tmp_path / "cache"))
    rows = "docs/results/reproduction/rows.jsonl.gz"
    few = "--data msrc_v2-rich --methods dummy,cfmgml"
    change = [
        ("reproduce --data-folder DIR", f"reproduce {few} --data-folder data"),
        ("--quick --data-folder DIR", f"--quick {few} --out out/quick --data-folder data"),
        ("DATA.bags", "DATA.bags --methods dummy,cfmgml --folds 2"),
        ('"DIR"', '"data"'),
        ('["msrc_v2"]', '["msrc_v2-rich"]'),
        ('Experiment("out/reproduce"', 'Experiment("out/own"'),
        ("Protocol()", "Protocol(n_folds=2, n_inner=2, quick=True)"),
        (rows, str(ROOT / rows)),
    ]
    follow("docs/results/reproduction.md", change=change)
    assert (tmp_path / "out" / "reproduce" / "report.html").exists()
    assert (tmp_path / "results" / "report.html").exists()
    counts = next(line for line in capsys.readouterr().out.splitlines() if re.fullmatch(r"[\d.]+( [\d.]+){3}", line))
    n_rows, n_sittings, cpu, wall = map(float, counts.split())
    text = (ROOT / "docs/results/reproduction.md").read_text(encoding="utf-8")
    assert f"{n_rows:,.0f} of them" in text
    assert f"{n_sittings:.0f} sittings" in text
    assert f"{cpu:.1f} hours of CPU time in fits and {wall:.1f} hours of wall time" in text


@pytest.mark.parametrize("page", PAGES)
def test_commands_in_sentences_could_be_run(page):
    for line in commands_in_text(page):
        check_command(line)


def test_every_page_with_code_is_followed():
    """Whatever page is added: its code is run by a test, which is named by adding the page here."""
    assert {page for page in PAGES if any(block.language in ("sh", "python") for block in blocks(page))} == FOLLOWED


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_what_it_is(page):
    """And none that is code passes for text: commands and programs have their language."""
    for block in blocks(page):
        kind = block.language, block.name
        if block.language.startswith("{"):  # Sphinx's
            continue
        known = kind in KINDS or (kind[0] == "python" and kind[1].endswith(".py"))
        server = page in WITH_SERVER and kind in SERVED
        assert known or server, f"{page}, line {block.line}: sh, python or text must follow the fence, got {kind}"
        if block.language == "text":
            assert not re.search(r"^(\$|cfmgml|python|pip|make|curl|import|from) ", block.body, re.MULTILINE), (
                block.line
            )


@pytest.mark.parametrize("page", PAGES)
def test_no_code_is_shown_in_another_way(page):
    """Blocks are found by fences at the start of a line: indented ones, others, and Sphinx's would be run by nobody."""
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(re.findall(r"^\s*(?:```|~~~)", text, re.MULTILINE)) == 2 * len(blocks(page))
    assert not re.search(r"\{code|code-block::|literalinclude|^\.\. code|::\n\n {3,}", text, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[\w-]+)?\)", (ROOT / page).read_text(encoding="utf-8")):
        assert target.startswith("http") or ((ROOT / page).parent / target).exists(), target
