"""The demo's page: one HTML file that needs nothing but itself.

Right and wrong are told by a mark, a line and a colour, so that no one of them is needed. Light and dark follow the
reader's setting.
"""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

import numpy as np

from cfmgml.common.files import atomic_write
from cfmgml.demo.digits import MEASURES, DemoResult, ShownBag, ShownDigit, best_methods
from cfmgml.demo.style import HEAT_LIGHT, INK_STEPS, STYLE
from cfmgml.evaluation.measures import Measure
from cfmgml.evaluation.page import whole_page
from cfmgml.evaluation.running import versions
from cfmgml.evaluation.svg import line_chart, picture

HEAT_STEPS = len(HEAT_LIGHT) // 2  # shades on each side of zero
MARKS = {kind: f'<span class="mark {kind}">{sign}</span>' for kind, sign in (("right", "✓"), ("wrong", "✗"))}


def write_page(result: DemoResult, path: str | Path, command: str = "cfmgml demo") -> None:
    """Write the page in one step: a reader finds the old one or the new one, never half of it."""
    with atomic_write(path) as stream:
        stream.write(page(result, command).encode())


def page(result: DemoResult, command: str = "cfmgml demo") -> str:
    """The page as a string; ``command`` is what the footer says made it."""
    scale = contribution_scale([*result.first, *result.mistaken])
    parts = [_heading(result), _training(result), _measures(result), _bags(result, scale), _convergence(result)]
    return whole_page("digits learned from bags", STYLE, "\n".join([*parts, _footer(result, command)]))


def contribution_scale(bags: Iterable[ShownBag]) -> float:
    """The contribution that gets the strongest colour: 98 % of nodes are below, so outliers do not pale the rest."""
    values = [np.abs(digit.contributions[~np.isnan(digit.contributions)]) for bag in bags for digit in bag.digits]
    return float(np.quantile(np.concatenate(values), 0.98)) or 1.0


# -- parts -----------------------------------------------------------------------------------


def _heading(result: DemoResult) -> str:
    own, svm = (result.method(name).values["graph", "accuracy"] for name in ("CfMGML", "SVM"))
    return (
        "<header><h1>Labels for every digit, learned from bags</h1>"
        f"<p class=lead>From {result.n_train} bags of 2 to 5 handwritten digits, cfmgml learned to read digits, told "
        "only which ones occur <em>somewhere</em> in each bag and never which picture is which. "
        f"In {result.n_test} new bags it names <strong>{own:.1%}</strong> of {result.n_digits} unseen digits "
        f"correctly, where a support vector machine that was told every digit’s label names {svm:.1%}.</p></header>"
    )


def _training(result: DemoResult) -> str:
    cards = "".join(
        f'<article class="card"><div class="digits">{"".join(_ink(digit, "a digit") for digit in bag.digits)}</div>'
        f'<p class="set"><span class="key">labels</span> {_chips(bag.truth)}</p></article>'
        for bag in result.training
    )
    return (
        f"<section><h2>What it learned from</h2><p>The first {len(result.training)} of {result.n_train} training bags: "
        f'some pictures, and one set of labels for all of them.</p><div class="cards">{cards}</div></section>'
    )


def _measures(result: DemoResult) -> str:
    heads = _cells(result, [escape(method.name) for method in result.methods], "th scope=col")
    blank = _cells(result, [""] * len(result.methods))
    rows = []
    for level, title in (("bag", "Bags"), ("graph", "Single digits")):
        rows.append(f'<tr class="level"><th scope=row>{title}</th>{blank}</tr>')
        rows += [_measure_row(result, measure) for measure in MEASURES if measure.level == level]
    seconds = _cells(result, [f"{method.seconds:.1f}" for method in result.methods])
    rows.append(f'<tr class="seconds"><th scope=row>seconds to fit</th>{seconds}</tr>')
    return (
        '<section><h2>How well it does</h2><div class="beside"><table>'
        f"<thead><tr><th scope=col>measure</th>{heads}</tr></thead><tbody>{''.join(rows)}</tbody>"
        f"</table>{_notes(result)}</div></section>"
    )


def _notes(result: DemoResult) -> str:
    terms = "".join(f"<dt>{escape(method.name)}</dt><dd>{escape(method.about)}</dd>" for method in result.methods)
    return (
        f'<div class="notes"><dl>{terms}</dl><p>↑ higher is better, ↓ lower is better. <b>Bold</b>: best of those '
        "that see the labels of bags only; the SVM is set apart as the ceiling. “Labels given”: the bag’s labels are "
        "known, and its digits share them out. How strongly each method is regularised was chosen without the test "
        "digits.</p></div>"
    )


def _measure_row(result: DemoResult, measure: Measure) -> str:
    best = best_methods(result, measure)
    forms = ["<b>{}</b>" if method.name in best else "{}" for method in result.methods]
    texts = [form.format(method.format(measure)) for form, method in zip(forms, result.methods, strict=True)]
    return f"<tr><th scope=row>{escape(measure.title)}&nbsp;{measure.arrow}</th>{_cells(result, texts)}</tr>"


def _cells(result: DemoResult, texts: Sequence[str], tag: str = "td") -> str:
    """A cell a method; what is told more than others is set apart."""
    kinds = [' class="apart"' if method.sees_graph_labels else "" for method in result.methods]
    return "".join(f"<{tag}{kind}>{text}</{tag[:2]}>" for kind, text in zip(kinds, texts, strict=True))


def _bags(result: DemoResult, scale: float) -> str:
    wrong = (
        f"{result.n_wrong_digits} of all {result.n_digits} test digits are named wrongly, in "
        f"{result.n_bags_with_wrong_digit} of {result.n_test} bags; {result.n_bags_with_wrong_labels} bags get a label "
        "too many or too few."
    )
    first, mistaken = ("".join(_card(bag, scale) for bag in bags) for bags in (result.first, result.mistaken))
    title = f"<h3>The next {len(result.mistaken)} with a mistake</h3>"
    more = f'{title}<div class="cards">{mistaken}</div>' if mistaken else ""
    return (
        f"<section><h2>Test bags</h2><p>{wrong} Under each digit stand the label that scores best and, as a heat map, "
        "what every pixel adds to that label’s score. A bag gets the labels for which one of its digits scores "
        "above 0.</p>"
        f"{_legend(scale)}<h3>The first {len(result.first)}, as they come</h3>"
        f'<div class="cards">{first}</div>{more}</section>'
    )


def _legend(scale: float) -> str:
    levels = np.arange(2 * HEAT_STEPS + 1)[None]
    cells = picture(np.zeros(levels.shape), levels, "heat", "colours of the heat maps")
    return (
        f'<div class="legend"><span>{MARKS["right"]} right</span><span>{MARKS["wrong"]} wrong</span>'
        f'<span class="scale"><span>against −{scale:.2g}</span>{cells}<span>+{scale:.2g} for</span>'
        '<span class="zero">0</span></span></div>'
    )


def _card(bag: ShownBag, scale: float) -> str:
    missed = [label for label in bag.truth if label not in bag.predicted]
    extra = [label for label in bag.predicted if label not in bag.truth]
    told = [f"{what} {', '.join(own)}" for what, own in (("missed", missed), ("wrongly added", extra)) if own]
    verdict, words = ("wrong", "; ".join(told)) if told else ("right", "bag labels right")
    digits = "".join(_digit(digit, scale) for digit in bag.digits)
    noted = " noted" if any(map(_note, bag.digits)) else ""
    return (
        f'<article class="card"><h4>{escape(bag.name)} {MARKS[verdict]}<span class="{verdict}">{escape(words)}</span>'
        f'</h4><div class="digits{noted}">{digits}</div>'
        f'<p class="set"><span class="key">true</span> {_chips(bag.truth)}</p>'
        f'<p class="set"><span class="key">predicted</span> {_chips(bag.predicted, extra)}</p></article>'
    )


def _digit(digit: ShownDigit, scale: float) -> str:
    verdict = "right" if digit.right else "wrong"
    said = f"a {digit.truth}, predicted {digit.predicted} with score {digit.score:.2f}, {verdict}"
    steps = np.nan_to_num(np.round(digit.contributions / scale * HEAT_STEPS)).clip(-HEAT_STEPS, HEAT_STEPS)
    title = f"what each pixel adds to the score of {digit.predicted}"
    heat = picture(digit.contributions, steps.astype(np.int64) + HEAT_STEPS, "heat", title)
    return (
        f'<div class="digit {verdict}">{_ink(digit, said)}'
        f'<p class="label">{MARKS[verdict]}{escape(digit.predicted)}{_note(digit)}</p>{heat}</div>'
    )


def _note(digit: ShownDigit) -> str:
    """What stands under a label: the true one, or that it scores too low to reach the bag."""
    if not digit.right:
        return f'<span class="note wrong">is {escape(digit.truth)}</span>'
    return "" if digit.score > 0 else '<span class="note">below 0</span>'


def _ink(digit: ShownDigit, title: str) -> str:
    return picture(digit.ink, np.nan_to_num(np.round(digit.ink * INK_STEPS)).astype(np.int64), "ink", title)


def _chips(labels: Sequence[str], wrong: Sequence[str] = ()) -> str:
    if not labels:
        return '<span class="muted">none</span>'
    right, added = '<span class="chip">{}</span>', '<span class="chip wrong">✗ {}</span>'
    return "".join((added if label in wrong else right).format(escape(label)) for label in labels)


def _convergence(result: DemoResult) -> str:
    panels = (
        ("CfMGML", "cccp: its smoothed objective", "It never rises: every round minimises a convex bound of it."),
        ("CfMGML paper", "paper: the paper’s own objective", "Rounds do not bound it, so it may rise again."),
    )
    figures = "".join(
        f"<figure><figcaption><b>{title}</b><br>{text}</figcaption>"
        f"{line_chart(result.method(name).objective, 'round', 'objective', title)}</figure>"
        for name, title, text in panels
    )
    return (
        '<section><h2>Convergence</h2><p class="muted">Two different objectives, each on its own scale: compare the '
        f'shapes, not the heights.</p><div class="panels">{figures}</div></section>'
    )


def _footer(result: DemoResult, command: str) -> str:
    return (
        f"<footer><p>Made by <code>{escape(command)}</code> in {result.seconds:.0f} s, seed {result.seed}; "
        f"{escape(versions())}.</p>"
        "<p>Digits: UCI Optical Recognition of Handwritten Digits, 8 × 8 pixels, as they come with scikit-learn. A "
        "digit is a graph of its inked pixels; training and test bags draw from different digits.</p></footer>"
    )
