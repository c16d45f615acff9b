"""Style sheets: `BASE` for all pages, `STYLE` for the report. A colour is a variable with a light and a dark value."""

from collections.abc import Sequence

BASE = """
:root{color-scheme:light dark;--page:#fff;--card:#f6f7f9;--paper:#fff;--text:#1b2330;--muted:#5a6473;
  --line:#d8dde4;--right:#17723f;--wrong:#b3263a;--right-soft:#dff1e6;--wrong-soft:#fbe3e5;--accent:#2b6aab;--shade:#0007}
@media screen and (prefers-color-scheme:dark){:root{--page:#12151b;--card:#1b2029;--paper:#12151b;--text:#e8ebf1;
  --muted:#9da7b6;--line:#333b49;--right:#58cf95;--wrong:#ff8a92;--right-soft:#163424;--wrong-soft:#421c22;
  --accent:#66a9f0;--shade:#fff6}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);
  font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif}
main{max-width:1120px;margin:0 auto;padding:32px 20px 24px}
h1{font-size:clamp(1.6rem,4.5vw,2.3rem);line-height:1.15;margin:0 0 12px;letter-spacing:-.01em}
h2{font-size:1.3rem;margin:40px 0 10px}
h3{font-size:1rem;margin:24px 0 10px}
p{margin:0 0 10px}
.lead{font-size:1.1rem;max-width:62em}
.muted,footer{color:var(--muted);font-size:.88rem}
dl{display:grid;grid-template-columns:auto 1fr;gap:3px 12px;margin:4px 0 14px}
dt{font-weight:600;color:var(--text)}
dd{margin:0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.95rem}
th,td{padding:4px 12px;text-align:right;font-weight:400}
th:first-child{text-align:left;padding-left:0}
thead th{font-weight:600;border-bottom:2px solid var(--line);vertical-align:bottom}
.legend{display:flex;flex-wrap:wrap;gap:8px 22px;align-items:center;font-size:.88rem;margin:12px 0 0}
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
@media (max-width:560px){main{padding:22px 14px}table{font-size:.76rem}thead th{font-size:.7rem}th,td{padding:4px 3px}}
"""
LIGHT = ("#1f6fb4", "#c8551b", "#2b8a57", "#8d4fa8", "#a8841a", "#c23a61", "#3f8f9b", "#6b6f76")
DARK = ("#6db1f2", "#f0945a", "#5fcf95", "#c79be0", "#dcbb58", "#f27c9c", "#74c8d4", "#a7adb7")


def style_sheet(name: str, light: Sequence[str], dark: Sequence[str], rules: str) -> str:
    """`BASE` and more rules; ``--name0``, ``--name1`` and so on are these colours, on light and on dark screens."""
    values = [";".join(f"--{name}{k}:{colour}" for k, colour in enumerate(colours)) for colours in (light, dark)]
    return f"{BASE}:root{{{values[0]}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{values[1]}}}}}\n{rules}"


_SERIES = "\n".join(
    f".curve.s{k}{{stroke:var(--s{k})}}.point.s{k},.bar.s{k}{{fill:var(--s{k})}}" for k in range(len(LIGHT))
)
# A wide table's shadow (::after) sticks to the right edge of its box; at the table's end it lies under a blank strip
# (::before). So no script is needed, and it works in every browser.
_RULES = """
main{max-width:1240px}
nav{display:flex;flex-wrap:wrap;gap:6px 16px;font-size:.92rem;margin:16px 0 0;
  padding:10px 0;border-block:1px solid var(--line)}
a{color:var(--accent)}
.warn{border-left:4px solid var(--s1);background:var(--card);padding:10px 14px;border-radius:0 8px 8px 0}
.wide{display:flex;overflow-x:auto;max-width:100%;border:1px solid var(--line);border-radius:8px}
.wide:focus-visible{outline:2px solid var(--accent)}
.wide table{font-size:.86rem;flex:1 0 auto}
.wide th,.wide td{padding:5px 12px;white-space:nowrap}
.wide th:first-child{position:sticky;left:0;z-index:1;background:var(--page);padding-left:12px;
  box-shadow:1px 0 var(--line)}
.wide thead th,.wide thead th:first-child{background:var(--card)}
.wide tbody tr.group th{font-weight:700}
.wide tbody tr.group *{padding-top:10px}
.wide tbody tr:not(.group) th{font-weight:400;color:var(--muted)}
.wide tbody tr.theirs td{color:var(--muted);font-style:italic}
.wide tbody tr.nested td{background:var(--card)}
.plain tbody tr:not(.group) th{color:var(--text)}
section>figure+figure,.panels{margin-top:14px}
.wide+p.muted{margin-top:8px}
td.why{color:var(--muted);font-size:.78rem}
details{margin:8px 0}
summary{cursor:pointer;font-weight:600;padding:4px 0}
.finding{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,560px);gap:8px 26px;padding:14px 0;
  border-bottom:1px solid var(--line)}
.finding p{margin:8px 0 0;font-size:.95rem}
.interval{stroke:var(--s0);stroke-width:2.2;stroke-linecap:round}
.estimate{fill:var(--page);stroke:var(--s0);stroke-width:2}
.estimate.sure{fill:var(--s0)}
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
.reading{max-width:66em;font-size:1rem;line-height:1.65}
.reading h3{margin:22px 0 8px}
.reading .right{color:var(--right)}
.reading .wrong{color:var(--wrong)}
mark{color:inherit;border-radius:3px;padding:0 1px;--strength:.6}
mark.for{background:rgb(from var(--s1) r g b/calc(var(--strength)*38%))}
mark.against{background:rgb(from var(--s0) r g b/calc(var(--strength)*38%))}
dl.things{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:3px 16px;font-size:.9rem}
@media (max-width:860px){.finding{grid-template-columns:minmax(0,1fr)}}
@media (max-width:700px){dl.things{grid-template-columns:minmax(0,1fr)}
  .wide th:first-child{white-space:normal;min-width:8.5em;max-width:10em}}
.wide::before,.wide::after{content:"";flex:none;width:22px}
.wide::before{order:1;position:relative;z-index:3;background:var(--page)}
.wide::after{order:2;margin-left:-22px;position:sticky;right:0;z-index:2;pointer-events:none;
  background:linear-gradient(to left,var(--shade),transparent)}
.paper{display:none}
@media print,(forced-colors:active){mark.for::after{content:"+"}mark.against::after{content:"−"}}
@media (forced-colors:active){:root{--shade:CanvasText}.chart *,.swatch *,mark{forced-color-adjust:none}
  .bar.s0,.estimate.sure,.dot{fill:CanvasText}
  .interval,.line{stroke:CanvasText}.tick,.name,.value,.count{fill:CanvasText}.grid{stroke:GrayText}
  .axis,.clique,.stem{stroke:CanvasText}.estimate.unsure{fill:Canvas;stroke:CanvasText}}
@media print{*{print-color-adjust:exact}nav,.screen{display:none!important}
  .wide,.paper{display:block;overflow:visible;border:0}
  .wide::before,.wide::after{display:none}
  .paper table{margin-bottom:14px}.wide table{font-size:.66rem;width:100%}tr,figure,.finding{break-inside:avoid}
  h2,h3{break-after:avoid}
  .wide th,.wide td{white-space:nowrap;padding:2px 5px}.wide thead th,.plain td,td.why{white-space:normal}
  .wide th:first-child{position:static;min-width:9em;max-width:14em;white-space:normal;box-shadow:none}
  .finding{grid-template-columns:minmax(0,2fr) minmax(0,3fr)}summary{list-style:none;break-after:avoid}
  details::details-content{content-visibility:visible;block-size:auto;display:block}main{max-width:none;padding:0}}
"""
STYLE = style_sheet("s", LIGHT, DARK, _RULES + _SERIES)
