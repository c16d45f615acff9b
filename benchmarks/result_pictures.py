"""The pictures at the head of docs/results: dots from the tables that are committed there; nothing is measured.

python benchmarks/result_pictures.py [PAGE ...]
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "results"
OUT = RESULTS / "drawn"
OURS, OTHERS, TOLD = "#0072b2", "#7f7f7f", "#d55e00"  # told: every graph's label
Rows = list[dict[str, str]]


def tables(page: str) -> Iterator[Rows]:
    """The tables of a page, each as rows by the names of its columns."""
    for block in re.findall(r"(?:^\|.*\|$\n?)+", (RESULTS / page).read_text(encoding="utf-8"), re.MULTILINE):
        cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in block.splitlines()]
        yield [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]


def table(page: str, *columns: str) -> Rows:
    """The first table of a page that has these columns."""
    return next(rows for rows in tables(page) if set(columns) <= set(rows[0]))


def value(cell: str) -> tuple[float, float]:
    """A mean and its deviation, 0 if there is none: ``0.945 ± 0.007``, ``**.071 (+.094)**``, ``-``."""
    numbers = re.findall(r"[+−-]?\d*\.\d+", cell)
    if not numbers:
        return float("nan"), 0.0
    return float(numbers[0]), float(numbers[1]) if "±" in cell else 0.0


def dots(
    ax: Axes, rows: Rows, column: str, names: Sequence[str], colours: Mapping[str, str], label: str = "method"
) -> None:
    """A dot a row, with its deviation; the first name on top."""
    found = {row[label]: value(row[column]) for row in rows}
    for place, name in enumerate(reversed(names)):
        mean, deviation = found[name]
        ax.errorbar(mean, place, xerr=deviation, fmt="o", color=colours.get(name, OTHERS), capsize=2, markersize=6)
    ax.set_yticks(range(len(names)), [re.sub(r" \(Gram matrix: .*\)", "", name) for name in reversed(names)])
    ax.grid(axis="x", alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)


def side_by_side(titles: Sequence[str], height: float) -> list[Axes]:
    _, axes = plt.subplots(1, len(titles), figsize=(9, height), layout="constrained", sharey=True)
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title, fontsize=11)
    return list(axes)


def draw_digits() -> None:
    columns = ("graph accuracy ↑", "bag macro-F1 ↑")
    rows = table("digits.md", "method", *columns)
    names = ("SVM that sees graph labels", "CfMGML (cccp)", "HLK", "CfMGML (paper)", "CfMGML (printed)", "Dummy")
    for ax, column in zip(side_by_side(("digits named rightly", "bags: macro-F1"), 2.8), columns, strict=True):
        dots(ax, rows, column, names, {"CfMGML (cccp)": OURS, "SVM that sees graph labels": TOLD})


def draw_all_methods() -> None:
    columns = ("bag average precision", "graph accuracy")
    rows = table("all_methods.md", "method", *columns)
    names = [row["method"] for row in rows]
    colours = {name: OURS for name in names if name.startswith("CfMGML (Gram")} | {"SGSL SVM": TOLD}
    for ax, column in zip(
        side_by_side(("photos: average precision", "regions named rightly"), 4.2), columns, strict=True
    ):
        dots(ax, rows, column, names, colours)


def draw_real_data() -> None:
    ours = table("real_data.md", "data", "kernel", "average precision")
    paper = {row[""]: row for row in table("real_data.md", "", "average precision", "graph accuracy")}
    told = " SGSL SVM, which sees every graph's label"
    shown: Rows = []
    for data, name, svm in (("msrc v2", "MSRC v2", told), ("voc2012", "VOC 2012", " SGSL SVM")):
        for kind, row in (
            (", ours", next(row for row in ours if row["data"] == data)),
            (", ours, context chosen", next(r for r in ours if r["data"] == data and "context" in r["kernel"])),
            (", paper's cfMGML", paper[f"{name}, paper's cfMGML"]),
            (", paper's SVM told every label", paper[f"{name}, paper's{svm}"]),
        ):
            accuracy = row.get("accuracy", row.get("graph accuracy", ""))
            shown.append({"method": name + kind, "bags": row["average precision"], "graphs": accuracy})
    hallmarks = next(row for row in ours if row["data"] == "hallmarks")
    shown.append({"method": "Hallmarks, ours", "bags": hallmarks["average precision"], "graphs": hallmarks["accuracy"]})
    names = [row["method"] for row in shown]
    colours = {name: OURS if "ours" in name else TOLD if "told" in name else OTHERS for name in names}
    for ax, column in zip(
        side_by_side(("bags: average precision", "graphs named rightly"), 3.4), ("bags", "graphs"), strict=True
    ):
        dots(ax, shown, column, names, colours)


def draw_pictures() -> None:
    regions = [rows for rows in tables("pictures/tables.md") if "graph accuracy" in rows[0]]
    pixels = [rows for rows in tables("pictures/tables.md") if "pixel accuracy" in rows[0]]
    shown: Rows = []
    for data, segments, painted in zip(("MSRC v2", "VOC 2012"), regions, pixels, strict=True):
        for name in (
            "CfMGML, deep_lite2, each level by itself", "CfMGML, deep", "CfMGML, rich: no network",
            "activation maps of the same encoder", "all its maps pooled, logistic regression",
        ):  # fmt: skip
            kinds = (f"{name} (", f"{name}, background below 0.2 (")
            named = [r["graph accuracy"] for r in segments if r["method"].startswith(f"{name} (")]
            paint = [
                r["pixel accuracy"] for r in painted if r["method"].startswith(kinds) and r["labels"] == "predicted"
            ]
            if named or paint:
                cells = {"regions": (named or ["-"])[0], "pixels": (paint or ["-"])[0]}
                shown.append({"method": f"{data}, {name}", **cells})
    names = [row["method"] for row in shown]
    colours = {name: OURS for name in names if "CfMGML" in name}
    titles = ("true segments named rightly", "pixels painted rightly")
    for ax, column in zip(side_by_side(titles, 2.8), ("regions", "pixels"), strict=True):
        dots(ax, shown, column, names, colours)


def draw_vectors() -> None:
    rows = [
        {
            "method": f"{row['data']}, {row['method']}",
            "bags": row["average precision"],
            "instances": row["instance accuracy"],
        }
        for row in table("vectors.md", "data", "method", "average precision")
    ]
    names = [row["method"] for row in rows]
    colours = {name: OURS for name in names if name.endswith("CfMGML")}
    titles = ("bags: average precision", "instances named rightly")
    for ax, column in zip(side_by_side(titles, 3.6), ("bags", "instances"), strict=True):
        dots(ax, rows, column, names, colours)


def draw_reproduction() -> None:
    """Ours, and the paper's, which is ours less how far it is ahead."""
    rows = table("reproduction/tables/against_paper.md", "data", "average precision ↑")
    axes = side_by_side(("bags: average precision", "graphs named rightly"), 3.4)
    for ax, column in zip(axes, ("average precision ↑", "graph accuracy ↑"), strict=True):
        for place, row in enumerate(reversed(rows)):
            numbers = [float(n.replace("−", "-")) for n in re.findall(r"[+−]?\d*\.\d+", row[column])]
            if numbers:
                ax.plot([numbers[0] - numbers[1], numbers[0]], [place, place], color=OTHERS, linewidth=1, zorder=1)
                ax.scatter(numbers[0] - numbers[1], place, color=OTHERS, label="the paper's cfMGML", zorder=2)
                ax.scatter(numbers[0], place, color=OURS, label="CfMGML, chosen in training folds", zorder=2)
        ax.set_yticks(range(len(rows)), [row["data"] for row in reversed(rows)])
        ax.grid(axis="x", alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    handles, labels = axes[0].get_legend_handles_labels()
    plt.gcf().legend(handles[:2], labels[:2], loc="outside upper right", fontsize=9, ncols=2, frameon=False)


def draw_texts() -> None:
    rows = table("texts.md", "data", "measure", "ours", "tf-idf")
    measures = ("average precision", "macro-F1")
    for ax, measure in zip(side_by_side([f"documents: {one}" for one in measures], 5.0), measures, strict=True):
        shown = [
            {"method": f"{row['data']}: {kind}", "value": row[kind]}
            for row in rows
            if row["measure"] == measure
            for kind in ("tf-idf", "ours")
        ]
        names = [row["method"] for row in shown]
        dots(ax, shown, "value", names, {name: OURS for name in names if name.endswith("ours")})
        ax.tick_params(axis="y", labelsize=8)


def draw_molecules() -> None:
    rows = table("molecules.md", "folds", "method", "mean ROC-AUC")
    axes = side_by_side(("Tox21, random folds: mean ROC-AUC", "scaffold folds"), 2.2)
    for ax, scheme in zip(axes, ("random", "scaffold"), strict=True):
        own = [row for row in rows if row["folds"] == scheme]
        names = [row["method"] for row in own]
        dots(ax, own, "in the folds that the forest has", names, {n: OURS for n in names if "MinMaxWL" in n})


def draw_learning_twice() -> None:
    columns = ("average precision ↑", "graph accuracy ↑")
    rows = table("learning_twice.md", "method", *columns)
    names = [row["method"] for row in rows]
    colours = {name: OURS for name in names if "twice" in name} | {names[-1]: TOLD}
    titles = ("photos: average precision", "regions named rightly")
    for ax, column in zip(side_by_side(titles, 2.6), columns, strict=True):
        dots(ax, rows, column, names, colours)


PAGES: dict[str, Callable[[], None]] = {
    "digits": draw_digits,
    "all_methods": draw_all_methods,
    "real_data": draw_real_data,
    "pictures": draw_pictures,
    "vectors": draw_vectors,
    "reproduction": draw_reproduction,
    "texts": draw_texts,
    "molecules": draw_molecules,
    "learning_twice": draw_learning_twice,
}


def main() -> None:
    OUT.mkdir(exist_ok=True)
    for page in sys.argv[1:] or PAGES:
        PAGES[page]()
        plt.savefig(OUT / f"{page}.png", dpi=90, metadata={"Software": None})
        plt.close("all")
        print(OUT / f"{page}.png")


if __name__ == "__main__":
    main()
