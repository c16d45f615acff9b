"""Fixtures for data sets of pictures."""

import csv

import pytest


@pytest.fixture
def every_nth(tmp_path):
    """A function that makes a folder like a real one (images, segments and tables), with every n-th image only."""

    def make(folder, n):
        thin = tmp_path / folder.name
        thin.mkdir()
        (thin / "classes.csv").symlink_to(folder / "classes.csv")
        names = sorted(path.stem for path in (folder / "images").iterdir())[::n]
        for part in ("images", "segments"):
            (thin / part).mkdir()
            for path in (folder / part).iterdir():
                if path.stem in names:
                    (thin / part / path.name).symlink_to(path)
        with open(folder / "segments.csv", newline="") as source, open(thin / "segments.csv", "w", newline="") as copy:
            rows = csv.DictReader(source)
            writer = csv.DictWriter(copy, rows.fieldnames)
            writer.writeheader()
            writer.writerows(row for row in rows if row["image"] in names)
        return thin

    return make
