"""The report's style sheet: the demo's, with wide tables and charts of several series."""

from cfmgml.experiments.demo_style import STYLE as DEMO_STYLE

LIGHT = ("#1f6fb4", "#c8551b", "#2b8a57", "#8d4fa8", "#a8841a", "#c23a61", "#3f8f9b", "#6b6f76")
DARK = ("#6db1f2", "#f0945a", "#5fcf95", "#c79be0", "#dcbb58", "#f27c9c", "#74c8d4", "#a7adb7")


def _variables(colours: tuple[str, ...]) -> str:
    return ":root{" + ";".join(f"--s{k}:{colour}" for k, colour in enumerate(colours)) + "}"


_SERIES = "\n".join(
    f".curve.s{k}{{stroke:var(--s{k})}}.point.s{k},.bar.s{k}{{fill:var(--s{k})}}" for k in range(len(LIGHT))
)
_RULES = """
main{max-width:1240px}
nav{display:flex;flex-wrap:wrap;gap:6px 16px;font-size:.92rem;margin:16px 0 0;
  padding:10px 0;border-block:1px solid var(--line)}
a{color:var(--accent)}
.warn{border-left:4px solid var(--s1);background:var(--card);padding:10px 14px;border-radius:0 8px 8px 0}
.wide{overflow-x:auto;max-width:100%;border:1px solid var(--line);border-radius:8px}
.wide:focus-visible{outline:2px solid var(--accent)}
.wide table{font-size:.86rem;min-width:100%}
.wide th,.wide td{padding:5px 12px;white-space:nowrap}
.wide th:first-child{position:sticky;left:0;background:var(--page);padding-left:12px;box-shadow:1px 0 var(--line)}
.wide thead th{background:var(--card)}
.wide thead th:first-child{background:var(--card)}
.wide tbody tr.group th{font-weight:700;padding-top:10px}
.wide tbody tr.group td{padding-top:10px}
.wide tbody tr:not(.group) th{font-weight:400;color:var(--muted)}
.wide tbody tr.theirs td{color:var(--muted);font-style:italic}
.wide tbody tr.nested td{background:var(--card)}
.plain tbody tr:not(.group) th{color:var(--text)}
section>figure+figure,.panels{margin-top:14px}
.wide+p.muted{margin-top:8px}
td.why{color:var(--muted);font-size:.78rem}
details{margin:8px 0}
summary{cursor:pointer;font-weight:600;padding:4px 0}
.finding{display:grid;grid-template-columns:8.2em minmax(0,1fr);gap:0 14px;padding:9px 0;
  border-bottom:1px solid var(--line)}
.finding p{margin:2px 0 0;font-size:.9rem;color:var(--muted)}
.verdict{font-weight:700;font-size:.82rem;border-radius:5px;padding:1px 8px;justify-self:start;align-self:start}
.verdict.holds{color:var(--right);background:var(--right-soft)}
.verdict.not{color:var(--wrong);background:var(--wrong-soft)}
.verdict.part{color:var(--text);background:var(--card);border:1px solid var(--line)}
.curve{fill:none;stroke-width:2.2;stroke-linejoin:round}
.chart{max-width:560px}
.chart.ranks{max-width:900px}
.chart.confusion{max-width:760px}
.legend .entry{display:inline-flex;align-items:center;gap:5px;white-space:nowrap}
.swatch{width:11px;height:11px}
.name{fill:var(--text);font-size:12px}
.clique{stroke:var(--text);stroke-width:4;stroke-linecap:round}
.stem{fill:none;stroke:var(--muted);stroke-width:1}
.cell.right{fill:var(--right)}
.cell.wrong{fill:var(--wrong)}
.count{font-size:8.5px;fill:var(--text)}
.sample{display:block;width:100%;border-radius:6px;background:#fff}
dl.things{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:3px 16px;font-size:.9rem}
@media (max-width:700px){.finding{grid-template-columns:minmax(0,1fr)}dl.things{grid-template-columns:minmax(0,1fr)}
  .wide th:first-child{white-space:normal;min-width:8.5em;max-width:10em}}
@media print{.wide{overflow:visible;border:0}nav{display:none}}
"""
STYLE = f"""{DEMO_STYLE}{_RULES}{_variables(LIGHT)}
@media (prefers-color-scheme:dark){{{_variables(DARK)}}}
{_SERIES}
"""
