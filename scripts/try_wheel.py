"""Install a wheel in a fresh environment and use it: the demo, a picture model, a text model, a server.

    python -m build && python scripts/try_wheel.py dist/*.whl --in python3.11 --in /path/to/chroot:python3

An interpreter in a chroot (made by debootstrap, say) is written ROOT:PYTHON. The environment gets the newest versions
that pip finds, as anybody's would, and nothing of this repository but the wheel.
"""

import argparse
import re
import shutil
import sys
from pathlib import Path

from places import Place

ROOT = Path(__file__).resolve().parents[1]


def code_of(page: str, name: str) -> str:
    """A program that a guide gives its readers."""
    found = re.search(
        rf"```python {re.escape(name)}\n(.*?)```", (ROOT / "docs" / "guides" / page).read_text(), re.DOTALL
    )
    assert found is not None, f"{page} has no {name}"
    return found[1]


def try_wheel(wheel: Path, place: Place) -> bool:
    with place.folder() as (here, there):
        shutil.copy(wheel, here)
        shutil.copy(ROOT / "scripts" / "first_use.py", here)
        (here / "make_photos.py").write_text(code_of("images.md", "make_photos.py"))
        (here / "make_texts.py").write_text(code_of("texts.md", "make_texts.py"))
        try:
            python = place.make_environment(there, [f"{there}/{wheel.name}[images,web,texts]"])
        except RuntimeError as error:
            print(error)
            return False
        done = place.run([python, "first_use.py"], there, stdout=None, stderr=None)
        return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--in", dest="places", action="append", default=[], metavar="[ROOT:]PYTHON")
    given = parser.parse_args()
    places = [Place.of(words) for words in given.places or [sys.executable]]
    results = {str(place): try_wheel(given.wheel, place) for place in places}
    for place, works in results.items():
        print(f"{'works' if works else 'FAILED'}: {given.wheel.name} in {place}")
    return 0 if all(results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
