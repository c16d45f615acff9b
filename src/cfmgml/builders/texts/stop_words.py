"""Words to leave out: none, a list of a language, a file's, or one's own."""

from collections.abc import Collection
from pathlib import Path
from string import ascii_lowercase

from cfmgml.builders.base import read_text
from cfmgml.common.extras import missing_extra

# Function words only: longer lists also take words that mean something in some field ("system", "cell", "interest").
_FUNCTION_WORDS = """
    a about above after again against all almost also although always am among an and any are as at be because
    been before being below between both but by can cannot could did do does doing done down due during each
    either etc even ever every few for from further had has have having he hence her here hers herself him
    himself his how however i if in into is it its itself just let may me might more moreover most much must my
    myself neither no nor not now of off often on once one only onto or other others otherwise our ours
    ourselves out over own per rather same several shall she should since so some still such than that the their
    theirs them themselves then there thereby therefore these they this those though through thus to too toward
    towards under until up upon us use used using very via was we well were what when where whereas whether
    which while who whom whose why will with within without would yet you your yours yourself yourselves
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())

SINGLE_LETTERS = frozenset(ascii_lowercase)  # left out by version 2 of the recipe, whatever the stop words
NONE, ENGLISH = "none", "english"


def find_stop_words(given: str | Collection[str]) -> str | tuple[str, ...]:
    """The words themselves, casefolded and sorted, so that whoever has them needs neither the package nor the file.

    A string is ``"none"``, ``"english"`` (a short list of function words, known by that name), another language, or
    else a file with words between spaces or lines, where ``#`` begins a remark.

    >>> find_stop_words("none"), find_stop_words(["The", "of"]), find_stop_words("english")
    ((), ('of', 'the'), 'english')
    """
    if not isinstance(given, str):
        return tuple(sorted({word.casefold() for word in given}))
    if given == ENGLISH:
        return given
    if given == NONE:
        return ()
    if Path(given).is_file():
        lines = read_text(Path(given)).splitlines()
        return find_stop_words([word for line in lines for word in line.partition("#")[0].split()])
    return find_stop_words(_language(given))


def _language(name: str) -> list[str]:
    try:
        from stop_words import AVAILABLE_LANGUAGES, LANGUAGE_MAPPING, get_stop_words
    except ImportError as error:
        what = f"stop_words={name!r} is no file, and lists for languages need stop-words"
        raise ImportError(missing_extra(what, "texts")) from error
    language = LANGUAGE_MAPPING.get(name, name)
    if language not in AVAILABLE_LANGUAGES:
        known = ", ".join(sorted(AVAILABLE_LANGUAGES))
        raise ValueError(f"stop_words must be none, a file, a list of words or a language ({known}), got {name!r}.")
    return list(get_stop_words(language))
