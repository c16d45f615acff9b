"""The check that the quick tests run every module can fail."""

import pytest
from coverage import CoverageData

import reached

CALLED = '''"""Text."""

LIMIT = 3


def double(x):
    """Text."""
    return 2 * x
'''


@pytest.mark.parametrize(("lines", "missing"), [([3, 6], ["one.py"]), ([3, 6, 8], [])], ids=["imported", "called"])
def test_a_module_that_was_only_imported_is_named(tmp_path, lines, missing):
    (tmp_path / "one.py").write_text(CALLED)
    (tmp_path / "constants.py").write_text("LIMIT = 3\n")
    (tmp_path / "fast.py").write_text("@compiled\ndef total(x):\n    return x + 1\n")
    data = CoverageData(no_disk=True)
    data.add_lines({str(tmp_path / "one.py"): lines})
    assert reached.unreached(data, tmp_path) == missing


def test_exceptions_are_modules():
    assert all((reached.SOURCE / name).is_file() for name in reached.ELSEWHERE)
