"""Molecules in files, row by row: tables with a column of SMILES, ``.smi``, SDF and MOL files."""

import gzip
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from cfmgml.builders.molecules.parsing import LETTERS_AN_ATOM, LINE_OF_BLOCK, MoleculeError
from cfmgml.builders.molecules.row_labels import RowLabels
from cfmgml.common.tables import BROKEN, Row, format_of, known_suffixes, stream_table
from cfmgml.common.typing import FloatArray
from cfmgml.data.builder import FileOptions, Paths, parameter
from cfmgml.reading.labels import KEYS
from cfmgml.reading.paths import list_files

LINES, RECORDS, BLOCK = (".smi", ".smiles"), (".sdf", ".sd"), (".mol",)
STRUCTURE, TITLE = "\0structure", "\0title"  # columns of files that are no tables
SMILES = ("smiles", "canonical_smiles", "isomeric_smiles", "structure", "molecule", "mol")
NAMES = (*KEYS, "mol_id", "molecule_id", "compound", "compound_id", "cas", "cid", "chembl_id", "molecule_chembl_id")


@dataclass(frozen=True)
class MoleculeFiles(FileOptions):
    """How to read files of molecules."""

    smiles: str | None = parameter(None, "Column with the SMILES; by default one that is called so.")
    name: str | None = parameter(None, "Column with names; by default one called id, name or the like, or the SMILES.")
    on_error: Literal["stop", "skip"] = parameter("skip", "Skip rows that cannot be used, or stop.", shown="skip")
    n_jobs: int | None = parameter(None, "Worker processes; by default one a core.")


class Entry(NamedTuple):
    """One input: its name, the molecule or mixture, its labels (NaN: not known), and why it cannot be used."""

    name: str
    source: Any
    labels: FloatArray | None = None
    problem: str | None = None


def molecule_files(paths: Paths) -> list[Path]:
    """The files that were named; a folder stands for its files of molecules, not for its tables."""
    files = list_files(paths, [*LINES, *RECORDS, *BLOCK], "file of molecules")
    for file in files:
        if not _suffix(file) and format_of(file) is None:
            known = f"{', '.join([*LINES, *RECORDS, *BLOCK])}, {known_suffixes()}"
            raise ValueError(f"{file} is no file of molecules: its name must end in one of {known}.")
    return files


def _suffix(file: Path) -> str:
    name = file.name.lower().removesuffix(".gz")
    return next((suffix for suffix in (*LINES, *RECORDS, *BLOCK) if name.endswith(suffix)), "")


def rows_of(files: list[Path], max_atoms: int) -> Iterator[Row]:
    """All rows of all files; what is too long to be a molecule of so many atoms is not read to its end."""
    return itertools.chain.from_iterable(_rows(file, max_atoms) for file in files)


def _rows(file: Path, max_atoms: int) -> Iterator[Row]:
    suffix = _suffix(file)
    if not suffix:
        yield from stream_table(file, lenient=True)
        return
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {file}.")
    opened = gzip.open if file.suffix.lower() == ".gz" else open
    with opened(file, "rt", encoding="utf-8-sig", errors="replace") as lines:
        if suffix in LINES:
            yield from _smiles_rows(lines, LETTERS_AN_ATOM * max_atoms)
        else:
            yield from _block_rows(lines, LINE_OF_BLOCK * (max_atoms + 100), file.name.split(".")[0])


def _smiles_rows(lines: IO[str], most: int) -> Iterator[Row]:
    """``SMILES name`` a line; a first line that names the columns is none of them."""
    for number, line in enumerate(_bounded(lines, most)):
        words = line.split(None, 1)
        if number == 0 and words and words[0].lower() == "smiles":
            continue
        row = {STRUCTURE: words[0] if words else "", TITLE: words[1].strip() if len(words) > 1 else ""}
        yield row if line.endswith("\n") or len(line) <= most else {**row, BROKEN: _too_long(most)}


def _bounded(lines: IO[str], most: int) -> Iterator[str]:
    """Lines; one that is longer is cut, and its rest left out."""
    while line := lines.readline(most + 1):
        yield line
        while len(line) > most and not line.endswith("\n"):
            line = lines.readline(most + 1)
            if not line:
                return


def _too_long(most: int) -> str:
    return f"is longer than {most:,} letters, too long for a molecule of so many atoms as max_atoms says."


def _block_rows(lines: IO[str], most: int, stem: str) -> Iterator[Row]:
    """Records of an SDF, or the one of a MOL file: a block, and properties by name."""
    held, size = list[str](), 0
    for line in _bounded(lines, most):
        if line.startswith("$$$$"):
            yield _record(held, size, most, stem)
            held, size = [], 0
            continue
        size += len(line)
        if size <= most:
            held.append(line)
    if any(line.strip() for line in held):
        yield _record(held, size, most, stem)


def _record(lines: list[str], size: int, most: int, stem: str) -> Row:
    end = next((k for k, line in enumerate(lines, 1) if line.startswith("M  END")), len(lines))
    row: Row = {STRUCTURE: "".join(lines[:end]), TITLE: lines[0].strip() or stem if lines else ""}
    name = ""
    for line in lines[end:]:
        if line.startswith(">") and "<" in line:
            name = line[line.index("<") + 1 : line.rindex(">")] if line.rindex(">") > line.index("<") else ""
            row[name] = ""
        elif name and line.strip():
            row[name] = f"{row[name]}\n{line.strip()}".strip()
        else:
            name = ""
    return {**row, BROKEN: _too_long(most)} if size > most else row


# -- entries ---------------------------------------------------------------------------------


class Columns(NamedTuple):
    """Which column has molecules, and which their names."""

    structure: str
    name: str | None

    @classmethod
    def choose(cls, row: Mapping[str, Any], options: MoleculeFiles, source: str) -> "Columns":
        """As asked for, or by the names of the columns; ``row`` has all of them."""
        if STRUCTURE in row:
            return cls(options.smiles or STRUCTURE, options.name or TITLE)
        by_name = {name.lower(): name for name in reversed(list(row))}
        for asked in (options.smiles, options.name):
            if asked is not None and asked not in row:
                raise ValueError(f"{source} has no column {asked!r}; it has {', '.join(row)}.")
        structure = options.smiles or next((by_name[name] for name in SMILES if name in by_name), None)
        if structure is None:
            raise ValueError(f"{source} must have a column smiles, or name one (--smiles); it has {', '.join(row)}.")
        names = [by_name[name] for name in NAMES if name in by_name and by_name[name] != structure]
        return cls(structure, options.name or next(iter(names), None))


def entry_of(row: Row, number: int, columns: Columns, labels: RowLabels | None) -> Entry:
    """One row; what is wrong with it is kept, for the list of what was skipped."""
    source = row.get(columns.structure)
    name = str(row.get(columns.name) or "").strip() if columns.name else ""
    if not name and isinstance(source, str) and "\n" not in source:
        name = source.strip()
    name = name or f"row {number + 1}"
    if BROKEN in row:
        return Entry(name, None, None, str(row[BROKEN]))
    try:
        return Entry(name, "" if source is None else source, None if labels is None else labels.of(row, name))
    except MoleculeError as error:
        return Entry(name, None, None, str(error))
