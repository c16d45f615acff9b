"""Sentences as version 2 of the recipe cut them: bags and models from then are built that way."""

import re

# A full stop, question or exclamation mark (with closing quotes or brackets) before white space and what may begin a
# sentence; the marks of scripts without spaces; an empty line. No run is looked at twice, so that time is linear: runs
# are taken whole (``++``) and from their first mark on.
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s++(?:[^\W_a-z]|[\"'“‘«(\[¿¡]))|[。！？।॥؟]++|\n\s*\n")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[])(?:[^\W\d_]|e\.g|i\.e|cf|vs|al|ca|approx|resp|figs?|eqs?|refs?|sec|no|vol|pp|eds?|dr|prof|mrs?|ms|st|"
    r"jr|sr|inc|ltd|co|spp?)\.$",
    re.IGNORECASE,
)
_LONGEST = 12  # an abbreviation, its stop and what is before it


def former_sentences(text: str) -> list[str]:
    """Sentences of a text, stripped, none of them empty.

    A sentence ends at ``.``, ``!``, ``?`` or ``…`` before white space and a capital, a digit, a bracket or a quotation
    mark; at ``。！？।॥؟``; and at an empty line. Common abbreviations (``e.g.``, ``Fig.``) and initials do not end one.

    >>> former_sentences("Cells grow (Fig. 2). Do they? Yes, e.g. T. cruzi grows.")
    ['Cells grow (Fig. 2).', 'Do they?', 'Yes, e.g. T. cruzi grows.']
    >>> former_sentences("我爱你。你呢？")
    ['我爱你。', '你呢？']
    """
    ends = [0]
    for match in _END.finditer(text):
        before = text[max(ends[-1], match.end() - _LONGEST) : match.end()]
        if not _ABBREVIATION.search(before):
            ends.append(match.end())
    pieces = (text[start:stop].strip() for start, stop in zip(ends, [*ends[1:], len(text)], strict=True))
    return [piece for piece in pieces if piece]
