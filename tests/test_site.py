"""What `make docs` builds the site from is complete: the reference, the gallery, the pages of results."""

import ast
import importlib
import inspect
import re
import runpy

import pytest

from doc_pages import ROOT, blocks

REFERENCE = "docs/reference/index.md"
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
ORDER = runpy.run_path(str(ROOT / "docs" / "_ext" / "gallery_order.py"))["ORDER"]
ANSWERED = (
    "digits", "all_methods", "real_data", "pictures", "vectors", "reproduction", "texts", "molecules", "learning_twice",
)  # pages that lead with it  # fmt: skip


def public_modules():
    """Modules with an ``__all__`` that are a package's front, or are one of their own."""
    for path in sorted((ROOT / "src" / "cfmgml").rglob("*.py")):
        place = path.relative_to(ROOT / "src").with_suffix("").parts
        is_front = place[-1] == "__init__" or len(place) == 2
        if is_front and not place[-1].startswith("_test") and "__all__" in path.read_text(encoding="utf-8"):
            yield ".".join(place).removesuffix(".__init__")


def public_names():
    """Everything that is public, by the names that it has."""
    named = {}
    for module in public_modules():
        front = importlib.import_module(module)
        for name in front.__all__:
            named.setdefault(id(getattr(front, name)), (getattr(front, name), []))[1].append(f"{module}.{name}")
    return list(named.values())


def reference_names():
    found, module = [], ""
    for line in (ROOT / REFERENCE).read_text(encoding="utf-8").splitlines():
        if said := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
            module = said[1]
        elif said := re.fullmatch(r"   (\w+)", line):
            found.append(f"{module}.{said[1]}")
    return found


def test_the_reference_has_every_public_name_once():
    listed = reference_names()
    public = public_names()
    assert len(public) > 80
    missing = [names for _, names in public if len(set(names) & set(listed)) != 1]
    assert not missing, f"add to {REFERENCE}, once"
    assert set(listed) <= {name for _, names in public for name in names}, "the reference names what is not public"


def test_every_public_name_has_an_example():
    """In its docstring, where it is run as a doctest, or in a block of the reference, which test_pages.py runs."""
    shown = "\n".join(block.body for block in blocks(REFERENCE) if block.language == "python")
    used = {node.id for node in ast.walk(ast.parse(shown)) if isinstance(node, ast.Name)}
    without = [
        names for thing, names in public_names()
        if ">>>" not in (inspect.getdoc(thing) or "") and not used & {name.rpartition(".")[2] for name in names}
    ]  # fmt: skip
    assert not without


def test_no_example_is_left_out():
    """What is shown is run: loaders on made-up data in the layouts of the real ones (layouts.py)."""
    assert not [path for path in (ROOT / "src").rglob("*.py") if "+SKIP" in path.read_text(encoding="utf-8")]


def test_the_gallery_has_an_order_and_enough_to_see():
    assert {file.stem for file in EXAMPLES} == set(ORDER)
    assert len(EXAMPLES) >= 12


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_has_a_title_a_command_and_a_picture(file):
    """That they run is what `make docs` shows: the site is built from them."""
    text = file.read_text(encoding="utf-8")
    said = ast.get_docstring(ast.parse(text))
    title, line = said.splitlines()[:2]
    assert line == "=" * len(title)
    assert f"    python examples/{file.name}" in said
    assert re.search(r"\bplot_bag\(|plt\.subplots\(", text)


@pytest.mark.parametrize("page", ANSWERED)
def test_results_lead_with_their_answer(page):
    """Three sentences, none of them a list, then a picture, then everything else."""
    text = (ROOT / "docs" / "results" / f"{page}.md").read_text(encoding="utf-8")
    title, answer, picture, *_ = text.split("\n\n")
    assert title.startswith("# ")
    assert len(re.findall(r"\.(?=\s|$)", answer)) == 3
    assert len(answer) < 800
    assert f"](drawn/{page}.png)" in picture
    assert (ROOT / "docs" / "results" / "drawn" / f"{page}.png").stat().st_size < 100_000


def test_result_pictures_are_drawn_from_what_is_committed():
    script = runpy.run_path(str(ROOT / "benchmarks" / "result_pictures.py"))
    assert set(script["PAGES"]) == set(ANSWERED)
    rows = script["table"]("digits.md", "method", "graph accuracy ↑")
    assert script["value"](rows[0]["graph accuracy ↑"]) == (0.965, 0.011)
    assert script["value"]("**.071 (+.094)**") == (0.071, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("page", ANSWERED)
def test_a_result_picture_can_be_drawn(page):
    script = runpy.run_path(str(ROOT / "benchmarks" / "result_pictures.py"))
    script["PAGES"][page]()
    axes = script["plt"].gcf().axes
    assert len(axes) == 2
    assert all(axis.has_data() for axis in axes)
    script["plt"].close("all")


def test_tables_of_photos_are_what_the_rows_make():
    script = runpy.run_path(str(ROOT / "benchmarks" / "deep_pictures.py"))
    kept = (script["OUT"] / "tables.md").read_text(encoding="utf-8")
    assert kept == script["table_text"](script["read_rows"]())
    page = (ROOT / "docs" / "results" / "pictures.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in kept.splitlines()[1:] if line not in page] == []


def test_pictures_of_the_site_are_small():
    folders = [ROOT / "docs" / name for name in ("landing", "screenshots", "results/drawn")]
    found = [path for folder in folders for path in folder.glob("*.png")]
    assert len(found) >= 4 + 3 + len(ANSWERED)
    assert all(path.stat().st_size < 100_000 for path in found)
