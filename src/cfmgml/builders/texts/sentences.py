"""Sentences of a text, cut at punctuation, in time that grows with the text.

A stop ends a sentence where what follows can begin one, unless it belongs to an abbreviation, an initial or an ordinal
number. `abbreviations` has the words; several languages share them, so that nobody has to say which one a text is in.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

from cfmgml.builders.texts.abbreviations import (
    BEFORE_MORE,
    BEFORE_NUMBER,
    BEFORE_ORDINAL,
    MAY_END,
    MONTHS,
    STARTERS,
)  # fmt: skip

# Stops before white space, with closing quotes or brackets; those of scripts without spaces; an empty line. No run is
# looked at twice, so that time is linear: runs are taken whole (``++``) and from their first mark on.
_END = re.compile(
    r"(?P<stop>(?<![.!?…])[.!?…]++)(?:[\"'“”‘’«»)\]]|[ \u00a0\u202f]»)*+(?=\s)"
    r"|(?P<wide>[。！？｡．؟۔।॥]++)(?P<close>[」』”’）】]*+)|\n\s*\n"
)
_NEXT = re.compile(r"\s*+[\"'“”‘«„‚(\[¿¡「『—–-]{0,3}+\s?(?P<word>[^\W_](?:[^\W_]|-[^\W\d_]){0,23}+)(?P<after>.?)")
# A word that is not capitalised and may begin a sentence all the same: p53, mRNA, c-Myc, β-catenin.
_MIXED = re.compile(r"[a-zα-ω]{1,3}+[A-Z0-9]|[a-zα-ω]-[A-Z]|[α-ω]-")
_ROMAN = re.compile(r"[IVXLC]{2,6}")
_BEFORE = 24  # letters before a stop that are looked at
_COMMAS, _SAYS = ("，", "、", ","), frozenset("说說道问問喊")  # a quotation, and then who says it
_OPENING = "\"'“”‘’«„‚([{¿¡—–-"


def split_sentences(text: str) -> list[str]:
    """Sentences of a text, stripped, none of them empty.

    >>> split_sentences("Smith et al. found 3.5 mm (Fig. 2). p53 rose, e.g. in T. cruzi. Did it?")
    ['Smith et al. found 3.5 mm (Fig. 2).', 'p53 rose, e.g. in T. cruzi.', 'Did it?']
    >>> split_sentences("Am 3. Mai kam Dr. Beck, z. B. mit dem Zug. Er blieb.")
    ['Am 3. Mai kam Dr. Beck, z. B. mit dem Zug.', 'Er blieb.']
    >>> split_sentences("我爱你。你呢？")
    ['我爱你。', '你呢？']
    """
    ends = [0]
    for match in _END.finditer(text):
        if match["stop"]:
            before = text[max(ends[-1], match.start() - _BEFORE) : match.start()]
            ends += [match.end()] * _stop_ends(match["stop"], before, _NEXT.match(text, match.end()))
        elif not match["wide"] or _wide_stop_ends(match, text):
            ends.append(match.end())
    pieces = (text[start:stop].strip() for start, stop in zip(ends, [*ends[1:], len(text)], strict=True))
    return [piece for piece in pieces if piece]


def _stop_ends(stop: str, before: str, following: re.Match[str] | None) -> bool:
    """Whether a sentence ends at this stop, from what stands before it and the word that follows."""
    if following is None:
        return True
    word = following["word"]
    if word[0].islower() and not _MIXED.match(word):
        return False
    return stop != "." or _can_end(before, following)


def _can_end(before: str, following: re.Match[str]) -> bool:
    """Whether what stands before a single full stop can be the end of a sentence."""
    tokens = [token.lstrip(_OPENING) for token in before.split()[-3:]]
    if not tokens or not tokens[-1]:
        return True
    last, word = tokens[-1].casefold(), following["word"]
    names = {last, "".join(tokens[-2:]).casefold(), "".join(tokens).casefold()}  # z. B., т. е., av. J.-C.
    if names & BEFORE_MORE:
        return False
    if names & BEFORE_NUMBER and (word[0].isdigit() or _ROMAN.fullmatch(word) or len(word) == 1):
        return False
    if last.isdecimal() and len(last) <= 3:
        ordinal = len(tokens) > 1 and tokens[-2].casefold() in BEFORE_ORDINAL
        return not (len(tokens) == 1 or ordinal or word.casefold() in MONTHS)  # alone: the number of a heading
    is_initial = len(last.rpartition(".")[2].rpartition("-")[2]) == 1 and last[-1].isalpha()
    if is_initial or names & MAY_END or _ROMAN.fullmatch(tokens[-1]):
        return word.casefold() in STARTERS and following["after"] != "."
    return True


def _wide_stop_ends(match: re.Match[str], text: str) -> bool:
    """Whether a sentence ends at a stop that needs no space after it: not if a quotation goes on, nor in a number."""
    after = text[match.end() : match.end() + 1]
    if match["wide"] == "．":
        return not (after.isdecimal() and text[match.start() - 1 : match.start()].isdecimal())
    goes_on = (
        "\u3041" <= after <= "\u309f" or after in _COMMAS or not _SAYS.isdisjoint(text[match.end() : match.end() + 3])
    )
    return not (match["close"] and goes_on)


Splitter = Callable[[str], list[str]]


def texts_of(document: Any, number: int, split: Splitter = split_sentences) -> list[str]:
    """The texts of a document: its sentences, if it is a string."""
    if isinstance(document, str):
        return split(document) or [""]
    if isinstance(document, bytes) or not isinstance(document, Iterable):
        raise TypeError(f"document {number} must be a string or a list of strings, got {type(document).__name__}.")
    texts = list(document)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"document {number} must hold strings; text {place} is of type {type(text).__name__}.")
    return texts or [""]
