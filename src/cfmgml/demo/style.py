"""The demo page's style sheet: that of all pages, with digits and heat maps."""

from cfmgml.evaluation.page_style import style_sheet

HEAT_LIGHT = (
    "#0b4a8f", "#2f73b8", "#6a9fd3", "#a5c5e5", "#ccdbe9", "#dededb",
    "#f4d9bb", "#f0bb84", "#e28f45", "#c3651a", "#8f4206",
)  # fmt: skip
HEAT_DARK = (
    "#9ccdff", "#66a9f0", "#4283c9", "#345f8f", "#34495f", "#42464d",
    "#5d4a36", "#8a5f30", "#bd7b2c", "#e69a3e", "#ffc987",
)  # fmt: skip
INK_STEPS = 16


_HEAT = "\n".join(f".heat{level}{{fill:var(--heat{level})}}" for level in range(len(HEAT_LIGHT)))
_INK = "\n".join(
    f".ink{level}{{fill:var(--text);fill-opacity:{level / INK_STEPS:.2f}}}" for level in range(INK_STEPS + 1)
)
_RULES = """
h4{font-size:.9rem;font-weight:600;margin:0 0 10px;display:flex;gap:6px;align-items:center;flex-wrap:wrap}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,340px),1fr));gap:14px}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px}
.digits{display:grid;grid-template-columns:repeat(5,1fr);gap:8px;margin-bottom:10px}
.cells{display:block;width:100%;shape-rendering:crispEdges}
.digits .cells{background:var(--paper);border:1px solid var(--line);border-radius:4px;padding:2px}
.digit.right>.cells:first-child{border:2px solid var(--right)}
.digit.wrong>.cells:first-child{border:2px dashed var(--wrong)}
.label{margin:4px 0;font-weight:700;line-height:1.3;white-space:nowrap;display:flex;align-items:center;
  flex-wrap:wrap;gap:0 4px;align-content:flex-start}
.noted .label{min-height:2.75em}
.note{font-weight:400;font-size:.8rem;color:var(--muted);flex-basis:100%}
.mark{display:inline-grid;place-items:center;width:1.25em;height:1.25em;font-size:.8rem;font-weight:700;
  line-height:1}
.mark.right{color:var(--right);background:var(--right-soft);border-radius:50%}
.mark.wrong{color:var(--wrong);background:var(--wrong-soft);border-radius:3px}
span.right{color:var(--right)}
span.wrong,.note.wrong{color:var(--wrong)}
.set{margin:4px 0 0;font-size:.88rem;display:flex;gap:5px;align-items:baseline;flex-wrap:wrap}
.key{color:var(--muted);width:5.2em}
.chip{border:1px solid var(--line);background:var(--paper);border-radius:5px;padding:0 7px;font-weight:600;
  font-variant-numeric:tabular-nums}
.chip.wrong{border:1px dashed var(--wrong);background:var(--wrong-soft)}
.beside{display:grid;grid-template-columns:auto minmax(0,1fr);gap:14px 44px;align-items:start}
.notes{font-size:.88rem;color:var(--muted)}
.level th{font-weight:600;padding-top:12px}
.seconds th,.seconds td{color:var(--muted);padding-top:12px}
.apart{border-left:10px solid var(--page);background:var(--card);color:var(--muted)}
.scale{display:grid;grid-template-columns:auto 150px auto;gap:0 8px;align-items:center}
.scale .cells{height:14px;width:150px}
.zero{grid-column:2;text-align:center;line-height:1.2;color:var(--muted)}
@media (max-width:900px){.beside{grid-template-columns:minmax(0,1fr)}}
@media (max-width:560px){.level th,.seconds th{white-space:nowrap}.digits{gap:6px}.card{padding:10px}
  .apart{border-left-width:5px}}
"""

STYLE = style_sheet("heat", HEAT_LIGHT, HEAT_DARK, f"{_RULES}{_HEAT}\n{_INK}")
