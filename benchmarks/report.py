"""Rows of a question as a Markdown page and a plot with both axes logarithmic."""

import os
import platform

import numpy as np


def median(rows, contender, size, key):
    found = [float(row[key]) for row in rows if (row["contender"], row["size"]) == (contender, size)]
    return float(np.median(found)) if found else None


def growth(rows, contender):
    """The exponent p of time ~ size^p, fitted to the medians of all sizes."""
    sizes = sorted({row["size"] for row in rows if row["contender"] == contender})
    if len(sizes) < 2:
        return None
    times = [max(median(rows, contender, size, "cpu_s"), 1e-6) for size in sizes]
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def goal_line(goal, rows):
    key = "cpu_s" if goal.of == "cpu" else "peak_gb"
    ours, peer = (median(rows, who, goal.size, key) for who in (goal.ours, goal.peer))
    what = f"{goal.ours} against {goal.peer} at {goal.size:,}: at least {goal.at_least:g} times less {goal.of}"
    if goal.at_least < 1:
        what = f"{goal.ours} against {goal.peer} at {goal.size:,}: at least {goal.at_least:g} of its speed"
    if ours is None or peer is None:
        return f"- {what}: not measured in this run."
    return f"- {what}: **{_shown(peer / ours)}** ({'reached' if peer / ours >= goal.at_least else 'missed'})."


def _shown(ratio):
    return f"{ratio:.2f}" if ratio < 1 else f"{ratio:.1f} times"


def table(question, rows):
    lines = [
        f"| {question.unit} | contender | version | CPU s | wall s | peak RSS, GB | added, GB | difference | passes |",
        "|---:|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for size in sorted({row["size"] for row in rows}):
        for contender in question.contenders:
            chosen = [row for row in rows if (row["contender"], row["size"]) == (contender, size)]
            if not chosen:
                continue
            values = [median(rows, contender, size, key) for key in ("cpu_s", "wall_s", "peak_gb", "added_gb")]
            gap = next((row["difference"] for row in chosen if row.get("difference") is not None), None)
            gap_text = "" if gap is None else f"{gap:.1e}"
            numbers = f"{values[0]:.3f} | {values[1]:.3f} | {values[2]:.2f} | {values[3]:.2f}"
            lines.append(
                f"| {size:,} | {contender} | {chosen[0]['version']} | {numbers} | {gap_text} | {len(chosen)} |"
            )
    return lines


def write_page(name, question, rows, folder):
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    lines = [
        f"# {question.title}",
        "",
        f"Made by `python benchmarks/suite.py {name}`. Medians over passes in which contenders take turns, a process "
        "and one thread each; GB added are those above what importing and preparing took.",
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, load {load:.1f} at "
        "the end. "
        "The difference is the largest from the reference, over its largest value"
        + (f" ({question.reference})." if question.reference else "."),
        *([question.note] if question.note else []),
        "",
        *table(question, rows),
        "",
        *(goal_line(goal, rows) for goal in question.goals),
    ]
    for contender in question.contenders:
        power = growth(rows, contender)
        if power is not None:
            ours = question.contenders[contender].package == "cfmgml"
            limit = f" (must not be above {question.exponent})" if question.exponent and ours else ""
            lines.append(f"- {contender}: time grows as size^{power:.2f}{limit}.")
    lines += ["", f"![CPU seconds against size, both axes logarithmic]({name}.png)"]
    (folder / f"{name}.md").write_text("\n".join(lines) + "\n")
    plot(name, question, rows, folder)


def plot(name, question, rows, folder):
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for k, contender in enumerate(question.contenders):
        sizes = sorted({row["size"] for row in rows if row["contender"] == contender})
        times = [median(rows, contender, size, "cpu_s") for size in sizes]
        axes.loglog(sizes, times, marker="os^Dv"[k % 5], label=contender)
    asked = sorted({row["size"] for row in rows})
    axes.set_xticks(asked, labels=[f"{size:,}" for size in asked])
    axes.minorticks_off()
    axes.set(xlabel=question.unit, ylabel="CPU seconds", title=question.title)
    axes.grid(which="both", alpha=0.25)
    axes.legend()
    figure.savefig(folder / f"{name}.png", dpi=110)
    plt.close(figure)
