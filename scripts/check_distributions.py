"""Look into the wheel and the source distribution: all that belongs to the package is in, and nothing else.

    python -m build && python scripts/check_distributions.py dist

Tests, data, documents, compiled caches and paths of the machine that built them stay out; the licence, the type marker
and every static file of the page are in. Only the standard library is needed.
"""

import ast
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "cfmgml"
SUFFIXES = {".py", ".typed", ".js", ".css", ".html", ".svg"}  # of the package's files
BESIDE = {
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE",
    "MANIFEST.in",
    "PKG-INFO",
    "README.md",
    "pyproject.toml",
    "setup.cfg",
}


def package_files() -> set[str]:
    """What the package consists of, by the source tree."""
    files = (file for file in PACKAGE.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return {f"cfmgml/{file.relative_to(PACKAGE).as_posix()}" for file in files}


def version() -> str:
    for node in ast.parse((PACKAGE / "__init__.py").read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__version__":
            return str(ast.literal_eval(node.value))
    raise SystemExit("cfmgml/__init__.py has no __version__.")


def problems_of_files(found: set[str], where: str) -> list[str]:
    """What is missing in a distribution's package, and what should not be there."""
    wanted = package_files()
    wrong = [f"{where} lacks {name}" for name in sorted(wanted - found)]
    wrong += [f"{where} has {name}, which the source tree has not" for name in sorted(found - wanted)]
    return wrong + [
        f"{where} has {name}, which is no kind of file of the package"
        for name in sorted(found)
        if PurePosixPath(name).suffix not in SUFFIXES
    ]


def problems_of_metadata(text: str, where: str) -> list[str]:
    meta = Parser().parsestr(text)
    wanted = {"Name": "cfmgml", "Version": version(), "License-Expression": "MIT", "License-File": "LICENSE"}
    wrong = [f"{where}: {key} is {meta[key]!r}, not {value!r}" for key, value in wanted.items() if meta[key] != value]
    if meta.get_all("Project-URL") or meta["Home-page"]:
        wrong.append(f"{where} names an address, and the project has none")
    return wrong


def problems_of_wheel(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as wheel:
        names = {name for name in wheel.namelist() if not name.endswith("/")}
        info = f"cfmgml-{version()}.dist-info"
        wrong = problems_of_files({name for name in names if name.startswith("cfmgml/")}, path.name)
        wrong += problems_of_metadata(wheel.read(f"{info}/METADATA").decode(), path.name)
    beside = {name for name in names if not name.startswith("cfmgml/")}
    files = ("licenses/LICENSE", "METADATA", "WHEEL", "entry_points.txt", "top_level.txt", "RECORD")
    expected = {f"{info}/{name}" for name in files}
    return wrong + [f"{path.name}: {name} is missing or too much" for name in sorted(beside ^ expected)]


def problems_of_sdist(path: Path) -> list[str]:
    start = f"cfmgml-{version()}/"
    with tarfile.open(path) as archive:
        names = {member.name.removeprefix(start) for member in archive.getmembers() if member.isfile()}
        text = archive.extractfile(f"{start}PKG-INFO")
        wrong = problems_of_metadata(text.read().decode() if text else "", path.name)
    package = {name.removeprefix("src/") for name in names if name.startswith("src/cfmgml/")}
    wrong += problems_of_files(package, path.name)
    beside = {name for name in names if not name.startswith(("src/cfmgml/", "src/cfmgml.egg-info/"))}
    return wrong + [f"{path.name}: {name} is missing or too much" for name in sorted(beside ^ BESIDE)]


def problems(folder: Path) -> list[str]:
    """Everything that is wrong with the distributions in a folder."""
    wheel, sdist = (folder / f"cfmgml-{version()}{end}" for end in ("-py3-none-any.whl", ".tar.gz"))
    missing = [f"there is no {path.name} in {folder}" for path in (wheel, sdist) if not path.exists()]
    return missing or problems_of_wheel(wheel) + problems_of_sdist(sdist)


if __name__ == "__main__":
    found = problems(Path(sys.argv[1] if len(sys.argv) > 1 else "dist"))
    print("\n".join(found) or f"wheel and source distribution of cfmgml {version()}: contents as they should be.")
    sys.exit(bool(found))
