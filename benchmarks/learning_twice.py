"""The tables of docs/results/learning_twice.md, from the figures of `cfmgml reproduce`.

    python benchmarks/learning_twice.py          # writes docs/results/learning_twice/tables.md

Data sets are those on which learning twice was measured; settings were chosen in training folds.
"""

import csv
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "results"
FIGURES = RESULTS / "reproduction" / "tables" / "figures.csv"
TABLES = RESULTS / "learning_twice" / "tables.md"
TWICE = "again-context"
METHODS = {
    "cfmgml": "CfMGML, learned once",
    "context": "CfMGML, learned once, context",
    TWICE: "CfMGML, learned twice, context",
    "misvm": "MI-SVM",
    "misvm-context": "MI-SVM, context",
    "m3miml": "M3MIML",
    "hlk": "HLK",
    "pooled": "Pooled features, logistic regression",
    "tf-idf": "Tf-idf, logistic regression",
    "sgsl-svm": "SVM told every graph's label",
}
MEASURES = {
    ("bag", "one_error"): "one-error ↓",
    ("bag", "ranking_loss"): "ranking loss ↓",
    ("bag", "average_precision"): "average precision ↑",
    ("bag", "macro_f1"): "macro-F1 ↑",
    ("graph", "accuracy"): "graph accuracy ↑",
    ("graph", "annotated"): "annotated ↑",
}
Figures = dict[tuple[str, str, str, str], str]


def figures() -> Figures:
    """Means over folds by data set, method, level and measure."""
    with FIGURES.open() as file:
        return {
            (row["data"], row["method"], row["level"], row["measure"]): row["mean"]
            for row in csv.DictReader(file)
            if row["selection"] == "nested" and row["mean"]
        }


def table(data: str, found: Figures) -> list[str]:
    """The lines of one data set's table."""
    lines = [f"### {data}", "", f"| method | {' | '.join(MEASURES.values())} |", "|---" * (len(MEASURES) + 1) + "|"]
    for method, title in METHODS.items():
        cells = [found.get((data, method, *measure)) for measure in MEASURES]
        if any(cells):
            shown = (f"{float(cell):.3f}" if cell else "-" for cell in cells)
            lines.append(f"| {title} | {' | '.join(shown)} |")
    return [*lines, ""]


def main() -> None:
    """Write the tables."""
    found = figures()
    lines = ["<!-- made by python benchmarks/learning_twice.py -->", ""]
    for data in sorted({key[0] for key in found if key[1] == TWICE}):
        lines += table(data, found)
    TABLES.parent.mkdir(exist_ok=True)
    TABLES.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
