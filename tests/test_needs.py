"""What is missing may be skipped on a user's machine only, and only through ``needs``."""

import re
from pathlib import Path

import pytest

import needs

TESTS = Path(__file__).parent


def test_a_missing_library_is_skipped_and_says_what_to_install(monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setitem(needs.EXTRAS, "no_such_library", "gpu")
    with pytest.raises(pytest.skip.Exception, match=re.escape("not installed: pip install 'cfmgml[gpu]'")):
        needs.needs("no_such_library")


def test_in_ci_it_fails(monkeypatch):
    monkeypatch.setenv("CI", "true")
    monkeypatch.setitem(needs.EXTRAS, "no_such_library", "gpu")
    with pytest.raises(pytest.fail.Exception, match="no_such_library is not installed"):
        needs.needs("no_such_library")


def test_what_is_there_is_imported():
    assert needs.needs("json").loads("1") == 1


def test_no_test_skips_in_another_way():
    """A skip of its own would pass in CI, too. Only what a platform or a version of Python lacks may be marked."""
    platform = r'not os\.path\.isdir\("/proc/self"\)|not hasattr\(os, "fork"\)|sys\.version_info'
    skips = re.compile(rf"importorskip|pytest\.skip\(|unittest\.skip|mark\.skip\b|skipif\((?!{platform})")
    files = sorted({*TESTS.rglob("*.py")} - {TESTS / "needs.py", Path(__file__)})
    assert len(files) > 50
    assert [str(path.relative_to(TESTS)) for path in files if skips.search(path.read_text())] == []
