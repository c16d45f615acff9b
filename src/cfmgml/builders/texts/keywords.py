"""The words of a text: cut, and reduced to keys.

A text is normalised (Unicode NFKC) and cut into words; a word's *key* is its casefolded form, without its ending
if asked. Words with one key are one keyword, however they are written.

>>> [word.key for word in words("The METASTATIC cells’ migration; migrating metastases", Spelling(stem=True))]
['the', 'metast', 'cell', 'migr', 'migr', 'metast']
"""

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

from cfmgml.builders.texts.sentences import Splitter

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


# Han and Hiragana: written without spaces, a character is about a word. A run of Katakana is one; Hangul has spaces.
APART = "\u3005\u3007\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"


class Spelling(NamedTuple):
    """What counts as a word, and as the same word."""

    stem: bool = False  # cut English endings off
    case: bool = False  # us and US differ
    numbers: bool = False  # words may be digits only
    apart: bool = True  # each Han or Hiragana character is a word; version 2 of the recipe took whole runs
    beginnings: int | None = None  # words share what they begin with, this many letters


class Word(NamedTuple):
    """A word: what it counts as, how it is written (in NFKC), and where it stands in its text."""

    key: str
    surface: str
    start: int
    stop: int


class Reading(NamedTuple):
    """The words of a text, in order: keys, spellings, and positions for the co-occurrence window."""

    keys: list[str]
    surfaces: list[str]
    positions: list[int]


PLAIN = Spelling()


def words(text: str, spelling: Spelling = PLAIN) -> list[Word]:
    """Words in order: runs of letters and digits, in any script; hyphens part words, and each Han or Hiragana
    character is one.

    Thai, Lao, Khmer and Burmese, which are written without spaces too, give one word a run: put spaces between words.

    >>> [word.surface for word in words("IL-2, 40 %: Straße, संधि, слово, 図グラフ")]
    ['IL', 'Straße', 'संधि', 'слово', '図', 'グラフ']
    >>> [word.key for word in words("IL-2, 40 %", Spelling(case=True, numbers=True))]
    ['IL', '2', '40']
    >>> [(word.surface, word.start, word.stop) for word in words("½ ﬁne，图")]
    [('fine', 2, 5), ('图', 6, 7)]
    """
    normal = normal_form(text)
    starts, stops = (range(len(text)), range(1, len(text) + 1)) if normal == text else places(text, normal)
    stem, case, numbers, *_ = spelling
    found: list[Word] = []
    for match in _pattern_for(normal, spelling).finditer(normal):
        if (surface := match.group()).isalpha() or numbers or any(map(str.isalpha, surface)):
            done = found[-1].stop if found else 0  # the two words of ½ share a letter: the first has it
            span = max(starts[match.start()], done), stops[match.end() - 1]
            found.append(Word(word_key(surface, stem, case), surface, *span))
    return found


def _pattern_for(text: str, spelling: Spelling) -> re.Pattern[str]:
    if text.isascii():
        return _pattern("", False)
    marks = "".join(sorted(c for c in set(text) if not c.isascii() and unicodedata.category(c)[0] == "M"))
    return _pattern(marks, spelling.apart)


@lru_cache(maxsize=64)
def _pattern(marks: str, apart: bool) -> re.Pattern[str]:
    r"""``\w`` has no combining marks, which would cut Indic words up: a word goes on through those given."""
    letter, more = (rf"[^\W_{APART}]", f"[{re.escape(marks)}]") if apart else (r"[^\W_]", f"[{re.escape(marks)}]")
    run = f"{letter}(?:{letter}|{more})*" if marks else f"{letter}+"
    single = f"[{APART}]{more}*" if marks else f"[{APART}]"
    return re.compile(f"{single}|{run}" if apart else run)


def normal_form(text: str) -> str:
    """Unicode NFKC, with a joiner after each 30 marks of a longer run.

    Normalisation sorts the marks that stand on one letter, in quadratic time: half a megabyte of them takes minutes.
    So runs are cut as Unicode's Stream-Safe Text Process does it (UAX #15); no written language has such runs.

    >>> normal_form("ﬁne"), len(normal_form("x" + "\u0301" * 100))
    ('fine', 104)
    """
    letters = () if text.isascii() else set(text)
    marks = [letter for letter in letters if _is_mark(letter)]
    if sum(map(text.count, marks)) <= LONGEST_RUN_OF_MARKS:
        return unicodedata.normalize("NFKC", text)
    for _ in range(2):  # again, because a few marks become two
        text = unicodedata.normalize("NFKC", _long_runs("".join(sorted(marks))).sub(rf"\g<0>{JOINER}", text))
    return text


def places(text: str, normal: str) -> tuple[list[int], list[int]]:
    """Where what each letter of a text's normal form came from starts and stops in the text.

    Letters are normalised with their marks, one by one; a text for which that is not so, a word at a time.

    >>> places("½ ﬁ!", "1⁄2 fi!")
    ([0, 0, 0, 1, 2, 2, 3], [1, 1, 1, 2, 3, 3, 4])
    """
    marks = "".join(sorted(letter for letter in set(text) if _is_mark(letter)))
    letters = re.compile(f".[{re.escape(marks)}]*" if marks else ".", re.DOTALL)
    for pieces in (letters.findall(text), re.findall(r"\s|\S+", text), [text]):
        form = {piece: normal_form(piece) for piece in set(pieces)}
        if "".join(map(form.__getitem__, pieces)) == normal:
            break
    starts: list[int] = []
    stops: list[int] = []
    at = 0
    for piece in pieces:
        starts += [at] * len(form[piece])
        at += len(piece)
        stops += [at] * len(form[piece])
    return starts, stops


def _is_mark(letter: str) -> bool:
    return unicodedata.combining(unicodedata.normalize("NFKD", letter)[0]) > 0


@lru_cache(maxsize=64)
def _long_runs(marks: str) -> re.Pattern[str]:
    mark = f"[{re.escape(unicodedata.normalize('NFKD', marks) + marks)}]"
    return re.compile(f"{mark}{{{LONGEST_RUN_OF_MARKS}}}(?={mark})")


def word_key(word: str, stem: bool, case: bool = False) -> str:
    """Casefolded unless ``case``; with ``stem``, English endings are cut off an ASCII word while four letters remain.

    >>> [word_key(word, True) for word in ("Angiogenesis", "angiogenic", "class", "Größen")]
    ['angiogen', 'angiogen', 'class', 'grössen']
    """
    return (_remembered_key if len(word) <= LONGEST_WORD_KEPT else _word_key)(word, stem, case)


def _word_key(word: str, stem: bool, case: bool) -> str:
    key = word if case else word.casefold()
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


def read_text(text: str, spelling: Spelling, stop_words: Collection[str], gap: int, split: Splitter) -> Reading:
    """The words of a text but stop words, positions counted over them; ``gap`` positions lie between two sentences.

    >>> from cfmgml.builders.texts.sentences import split_sentences
    >>> read_text("A dog barks. The cat ran.", Spelling(), {"a", "the"}, 2, split_sentences)
    Reading(keys=['dog', 'barks', 'cat', 'ran'], surfaces=['dog', 'barks', 'cat', 'ran'], positions=[0, 1, 4, 5])
    """
    reading, position = Reading([], [], []), 0
    stem, case, numbers, *_ = spelling
    for sentence in map(normal_form, split(text)):
        for surface in _pattern_for(sentence, spelling).findall(sentence):  # as `words`, which also says where they are
            folded = surface.casefold()
            if folded in stop_words or not (numbers or surface.isalpha() or any(map(str.isalpha, surface))):
                continue
            reading.keys.append(word_key(surface, stem, case))
            reading.surfaces.append(surface if case else folded)
            reading.positions.append(position)
            position += 1
        position += gap
    return reading
