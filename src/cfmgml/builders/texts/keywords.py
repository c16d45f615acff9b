"""The words of a text: cut, reduced to keys, and without function words.

A text is normalised (Unicode NFKC) and cut into words; a word's *key* is its casefolded form, without its ending
if asked. Words with one key are one keyword, however they are written.

>>> [word.key for word in words("The METASTATIC cells’ migration; migrating metastases", stem=True)]
['the', 'metast', 'cell', 'migr', 'migr', 'metast']
"""

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

from cfmgml.builders.texts.sentences import split_sentences

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
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())

# The last seven are what Greek leaves in English: metastasis and metastatic, apoptosis and apoptotic.
_ENDINGS = """
    ations ation ators ator ates ate ated ating ative ions ion ive ings ing ed ers er ors or ally ly al ic ical
    ity ous ments ment ness is es s e y ies ize ized ise ised ises izing ising ization isation ance ence ant ent
    able ible osis otic oses asis atic ases etic
"""
ENDINGS = frozenset(_ENDINGS.split())
ENDING_LENGTHS = tuple(sorted({len(ending) for ending in ENDINGS}, reverse=True))  # the longest first
SHORTEST_STEM = 4
LONGEST_WORD_KEPT = 64  # of the words whose keys are remembered
LONGEST_RUN_OF_MARKS = 30  # as in Unicode's Stream-Safe Text Format
JOINER = "\u034f"  # combining grapheme joiner: ends a run of marks and shows nothing


class Word(NamedTuple):
    """A word: what it counts as, how it is written, and where it stands in the NFKC form of its text."""

    key: str
    surface: str
    start: int
    stop: int


class Reading(NamedTuple):
    """The content words of a text, in order: keys, spellings, and positions for the co-occurrence window."""

    keys: list[str]
    surfaces: list[str]
    positions: list[int]


def words(text: str, stem: bool = False) -> list[Word]:
    """Words in order: runs of letters and digits with at least one letter, in any script; hyphens part words.

    A script written without spaces gives one word a run: put spaces between its words first.

    >>> [word.surface for word in words("IL-2, 40 %: Straße, संधि, слово")]
    ['IL', 'Straße', 'संधि', 'слово']
    """
    text = normal_form(text)
    marks = "".join(sorted(c for c in set(text) if not c.isascii() and unicodedata.category(c)[0] == "M"))
    matches = (match for match in _pattern(marks).finditer(text) if any(map(str.isalpha, match.group())))
    return [Word(word_key(m.group(), stem), m.group(), *m.span()) for m in matches]


@lru_cache(maxsize=64)
def _pattern(marks: str) -> re.Pattern[str]:
    r"""``\w`` has no combining marks, which would cut Indic words up: a word goes on through those given."""
    return re.compile(rf"[^\W_](?:[^\W_]|[{re.escape(marks)}])*" if marks else r"[^\W_]+")


def normal_form(text: str) -> str:
    """Unicode NFKC, with a joiner after each 30 marks of a longer run.

    Normalisation sorts the marks that stand on one letter, in quadratic time: half a megabyte of them takes minutes.
    So runs are cut as Unicode's Stream-Safe Text Process does it (UAX #15); no written language has such runs.

    >>> normal_form("ﬁne"), len(normal_form("x" + "\u0301" * 100))
    ('fine', 104)
    """
    letters = () if text.isascii() else set(text)
    marks = [letter for letter in letters if unicodedata.combining(unicodedata.normalize("NFKD", letter)[0])]
    if sum(map(text.count, marks)) <= LONGEST_RUN_OF_MARKS:
        return unicodedata.normalize("NFKC", text)
    for _ in range(2):  # again, because a few marks become two
        text = unicodedata.normalize("NFKC", _long_runs("".join(sorted(marks))).sub(rf"\g<0>{JOINER}", text))
    return text


@lru_cache(maxsize=64)
def _long_runs(marks: str) -> re.Pattern[str]:
    mark = f"[{re.escape(unicodedata.normalize('NFKD', marks) + marks)}]"
    return re.compile(f"{mark}{{{LONGEST_RUN_OF_MARKS}}}(?={mark})")


def word_key(word: str, stem: bool) -> str:
    """Casefolded; with ``stem``, English endings are cut off an ASCII word while four letters remain.

    >>> [word_key(word, True) for word in ("Angiogenesis", "angiogenic", "class", "Größen")]
    ['angiogen', 'angiogen', 'class', 'grössen']
    """
    return _remembered_key(word, stem) if len(word) <= LONGEST_WORD_KEPT else _word_key(word, stem)


def _word_key(word: str, stem: bool) -> str:
    key = word.casefold()
    if not stem or not key.isascii():
        return key
    stop = len(key)
    while length := _ending_length(key, stop):
        stop -= length
    return key[:stop]


_remembered_key = lru_cache(maxsize=100_000)(_word_key)


def _ending_length(key: str, stop: int) -> int:
    """Of the longest ending that the first ``stop`` letters may lose; 0 for none."""
    for length in ENDING_LENGTHS:
        start = stop - length
        if start >= SHORTEST_STEM and key[start:stop] in ENDINGS and key[start - 1 : stop] != "ss":
            return length
    return 0


def read_text(text: str, *, stem: bool, stop_words: Collection[str], gap: int) -> Reading:
    """The content words of a text, positions counted over them; ``gap`` positions lie between two sentences.

    Left out are stop words and single ASCII letters.

    >>> read_text("A dog barks. The cat ran.", stem=False, stop_words=STOP_WORDS, gap=2)
    Reading(keys=['dog', 'barks', 'cat', 'ran'], surfaces=['dog', 'barks', 'cat', 'ran'], positions=[0, 1, 4, 5])
    """
    reading, position = Reading([], [], []), 0
    for sentence in split_sentences(text):
        for word in words(sentence, stem):
            spelling = word.surface.casefold()
            if spelling in stop_words or (len(spelling) == 1 and spelling.isascii()):
                continue
            reading.keys.append(word.key)
            reading.surfaces.append(spelling)
            reading.positions.append(position)
            position += 1
        position += gap
    return reading
