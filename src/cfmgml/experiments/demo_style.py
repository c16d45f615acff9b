"""The demo page's style sheet. Every colour is a variable with a light and a dark value."""

HEAT_LIGHT = (
    "#0b4a8f", "#2f73b8", "#6a9fd3", "#a5c5e5", "#ccdbe9", "#dededb",
    "#f4d9bb", "#f0bb84", "#e28f45", "#c3651a", "#8f4206",
)  # fmt: skip
HEAT_DARK = (
    "#9ccdff", "#66a9f0", "#4283c9", "#345f8f", "#34495f", "#42464d",
    "#5d4a36", "#8a5f30", "#bd7b2c", "#e69a3e", "#ffc987",
)  # fmt: skip
INK_STEPS = 16


def _variables(colours: tuple[str, ...]) -> str:
    return ":root{" + ";".join(f"--heat{level}:{colour}" for level, colour in enumerate(colours)) + "}"


_HEAT = "\n".join(f".heat{level}{{fill:var(--heat{level})}}" for level in range(len(HEAT_LIGHT)))
_INK = "\n".join(
    f".ink{level}{{fill:var(--text);fill-opacity:{level / INK_STEPS:.2f}}}" for level in range(INK_STEPS + 1)
)
_RULES = """
:root{color-scheme:light dark;--page:#fff;--card:#f6f7f9;--paper:#fff;--text:#1b2330;--muted:#5a6473;
  --line:#d8dde4;--right:#17723f;--wrong:#b3263a;--right-soft:#dff1e6;--wrong-soft:#fbe3e5;--accent:#2f73b8}
@media (prefers-color-scheme:dark){:root{--page:#12151b;--card:#1b2029;--paper:#12151b;--text:#e8ebf1;
  --muted:#9da7b6;--line:#333b49;--right:#58cf95;--wrong:#ff8a92;--right-soft:#163424;--wrong-soft:#421c22;
  --accent:#66a9f0}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);
  font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif}
main{max-width:1120px;margin:0 auto;padding:32px 20px 24px}
h1{font-size:clamp(1.6rem,4.5vw,2.3rem);line-height:1.15;margin:0 0 12px;letter-spacing:-.01em}
h2{font-size:1.3rem;margin:40px 0 10px}
h3{font-size:1rem;margin:24px 0 10px}
h4{font-size:.9rem;font-weight:600;margin:0 0 10px;display:flex;gap:6px;align-items:center;flex-wrap:wrap}
p{margin:0 0 10px}
.lead{font-size:1.1rem;max-width:62em}
.muted,footer{color:var(--muted);font-size:.88rem}
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
dl{display:grid;grid-template-columns:auto 1fr;gap:3px 12px;margin:4px 0 14px}
dt{font-weight:600;color:var(--text)}
dd{margin:0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.95rem}
th,td{padding:4px 12px;text-align:right;font-weight:400}
th:first-child{text-align:left;padding-left:0}
thead th{font-weight:600;border-bottom:2px solid var(--line);vertical-align:bottom}
.level th{font-weight:600;padding-top:12px}
.seconds th,.seconds td{color:var(--muted);padding-top:12px}
.apart{border-left:10px solid var(--page);background:var(--card);color:var(--muted)}
.legend{display:flex;flex-wrap:wrap;gap:8px 22px;align-items:center;font-size:.88rem;margin:12px 0 0}
.scale{display:grid;grid-template-columns:auto 150px auto;gap:0 8px;align-items:center}
.scale .cells{height:14px;width:150px}
.zero{grid-column:2;text-align:center;line-height:1.2;color:var(--muted)}
.panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,340px),1fr));gap:14px}
figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px}
figcaption{font-size:.88rem;margin-bottom:6px}
.chart{display:block;width:100%;max-width:480px}
.grid,.axis{stroke:var(--line);stroke-width:1}
.axis{stroke:var(--muted)}
.line{fill:none;stroke:var(--accent);stroke-width:2.5;stroke-linejoin:round}
.dot{fill:var(--accent)}
.tick{fill:var(--muted);font-size:12px}
.value{fill:var(--text);font-size:13px;font-weight:600}
footer{margin-top:40px;border-top:1px solid var(--line);padding-top:14px}
code{font-size:.95em;overflow-wrap:anywhere}
@media (max-width:900px){.beside{grid-template-columns:minmax(0,1fr)}}
@media (max-width:560px){main{padding:22px 14px}table{font-size:.76rem}thead th{font-size:.7rem}
  th,td{padding:4px 3px}.level th,.seconds th{white-space:nowrap}.digits{gap:6px}.card{padding:10px}
  .apart{border-left-width:5px}}
"""

STYLE = f"""{_RULES}{_variables(HEAT_LIGHT)}
@media (prefers-color-scheme:dark){{{_variables(HEAT_DARK)}}}
{_HEAT}
{_INK}
"""
