#!/usr/bin/python3
"""Plots the results of `framewire bench --json` with Debian's matplotlib.

    bench/plot.py FILE.json... -o DIR
    bench/plot.py docs/benchmarks/recorded/*.json -o docs/benchmarks/plots

Each ladder as bars beside the report's figures, its sweeps as lines, peers as ratios, how jobs grow, the machine's limits.
A row that several files have is the first one's.
"""
import argparse
import os
import re
import textwrap

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

from figures import (REPORTS, STEPS, SWEPT, TUNED, Figures, base_name, input_of, is_gpu, number, sweeps, us_text,  # noqa: E402
                     without_sweeps)

CPU, GPU, REPORT, PEER = "#2471a3", "#1e8449", "#b9770e", "#7d3c98"
LINES = ["#2471a3", "#1e8449", "#c0392b", "#7d3c98", "#b9770e", "#148f77", "#5d6d7e", "#d35400"]
STYLES = ["-", "--", ":", "-."]
PANEL_IN, BAR_IN, WIDTH_IN = 0.9, 0.2, 9.0
LINEAR = ("components",)  # swept in equal steps, from 0

# The plot has its own background, as pages may be light or dark.
plt.rcParams.update({
    "figure.facecolor": "white", "savefig.facecolor": "white", "svg.fonttype": "none", "svg.hashsalt": "framewire",
    "font.family": "sans-serif", "font.size": 8, "axes.grid": True, "grid.color": "#dddddd", "axes.axisbelow": True,
    "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
})


def save(figure, folder, name):
    path = os.path.join(folder, name + ".svg")
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    print(path)


def bars(title, panels, unit, folder, name, caption="", log=True, one=False):
    """Plots `panels`, {title: [(label, value, colour, the row's "reported" or None)]}, each with its first entry on top."""
    panels = {of: entries for of, entries in panels.items() if entries}
    if not panels:
        return
    values = [value for entries in panels.values() for entry in entries for value in (entry[1], entry[3] and entry[3]["us"]) if value]
    limits = (min(values) / 1.5, max(values) * 2) if log else (0, max(values) * 1.1)
    heights = [PANEL_IN + BAR_IN * len(entries) for entries in panels.values()]
    figure, all_axes = plt.subplots(len(panels), 1, figsize=(WIDTH_IN, sum(heights)), squeeze=False, sharex=True,
                                    layout="constrained", gridspec_kw={"height_ratios": heights})
    for axes, (panel, entries) in zip(all_axes[:, 0], panels.items()):
        places = range(len(entries), 0, -1)
        axes.barh(places, [entry[1] for entry in entries], 0.7, color=[entry[2] for entry in entries])
        reported = [(place, entry[3]) for place, entry in zip(places, entries) if entry[3]]
        if reported:
            axes.scatter([reported["us"] for _, reported in reported], [place for place, _ in reported], marker="D", s=22, color=REPORT, zorder=3)
            panel += f"   \N{BLACK DIAMOND} the report's, on its {', '.join(sorted({reported['machine'] for _, reported in reported}))}"
        for place, (_, value, _, reported) in zip(places, entries):
            is_covered = reported and value / 1.1 < reported["us"] < value * 2
            axes.annotate(us_text(value), (max(reported["us"], value) if is_covered else value, place), xytext=(6 if is_covered else 3, 0),
                          textcoords="offset points", va="center", fontsize=7)
        if one:
            axes.axvline(1, color="#333333", linewidth=1)
        axes.set_yticks(list(places), [entry[0] for entry in entries])
        axes.set_ylim(0.3, len(entries) + 0.7)
        if log:
            axes.set_xscale("log")
        axes.set_xlim(limits)
        axes.tick_params(axis="x", labelbottom=True)
        axes.set_xlabel(unit)
        axes.set_title(panel, loc="left", fontweight="bold")
        axes.grid(axis="y", visible=False)
    figure.suptitle(titled(title, caption), x=0.01, ha="left", fontsize=9)
    save(figure, folder, name)


def titled(title, caption):
    """Returns the title above the caption, which is wrapped to fit."""
    return "\n".join([title] + textwrap.wrap(caption, 130))


def lines(title, curves, across, unit, folder, name, caption="", log_x=True, log_y=True):
    """Plots `curves`, {label: [(x, y)]}."""
    figure, axes = plt.subplots(figsize=(WIDTH_IN, 4.2))
    for index, (label, points) in enumerate(sorted(curves.items())):
        style = STYLES[index // len(LINES) % len(STYLES)]
        axes.plot(*zip(*points), style, marker="o", markersize=3, color=LINES[index % len(LINES)], label=label)
    if log_x:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%g"))
    if log_y:
        axes.set_yscale("log")
    axes.set_xlabel(across)
    axes.set_ylabel(unit)
    axes.set_title(titled(title, caption), loc="left", fontsize=9)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), fontsize=7)
    save(figure, folder, name)


def file_name(*parts):
    return re.sub(r"[^a-z0-9]+", "-", "-".join(parts).lower()).strip("-")


def label_of(row, keys):
    """Returns a label that distinguishes a bar from its neighbours: the operation, its step, the details named `keys`, and the runner."""
    details = row["details"]
    step = details.get("step", "")
    words = [base_name(row), step if step != "whole" else ""]
    words += [value if key == "step" else f"{key} {value}" for key, value in details.items() if key in keys and value]
    return f"{', '.join(filter(None, words))}; {row['runner']}"


def labels_of(rows):
    """Returns labels for the rows of one panel, different ones as long as the rows' details differ."""
    labels = [label_of(row, SWEPT) for row in rows]
    for index, row in enumerate(rows):
        if labels.count(labels[index]) > 1:
            labels[index] = label_of(row, set(row["details"]) - {"step", "size", "input", "fps"})
    return labels


def name_of(suite):
    return suite.removeprefix("ladders/").replace("_", " ").replace("-", " ")


def caption_of(suite):
    return "; ".join(["Repeats: " + REPORTS[suite][0], *REPORTS[suite][1:]]) if suite in REPORTS else ""


def step_order(row):
    step = row["details"].get("step", "")
    return STEPS.index(step) if step in STEPS else 99


def plot_ladder(figures, suite, folder):
    """Plots bars, with a file per input and a panel per machine, and for each sweep lines, labelled with the machine."""
    rows = [row for row in figures.suite("ladders", suite) if row["median_us"]]
    swept = sweeps([row for row in rows if row["details"].get("step") not in ("HtoD", "DtoH", "memset")])
    in_lines = {id(row) for (key, _), curves in swept.items() if key not in TUNED for of in curves.values() for row in of}
    kept = sorted((row for row in without_sweeps(rows) if id(row) not in in_lines), key=step_order)
    inputs = sorted({input_of(row) for row in kept})
    for part, steps in (("whole frames", True), ("steps", False)):
        for one_input in inputs:
            panels = {}
            for row in kept:
                if input_of(row) == one_input and (row["details"].get("step", "whole") in ("whole", "")) == steps:
                    panels.setdefault(f"{row['machine']}, {row['date']}", []).append(row)
            entries = {panel: [(label, row["median_us"], GPU if is_gpu(row) else CPU, row.get("reported"))
                               for label, row in zip(labels_of(of), of)] for panel, of in sorted(panels.items())}
            bars(f"{name_of(suite)}: {part}, input {one_input}", entries, "microseconds per frame", folder,
                 file_name(suite, "frames" if steps else part, one_input if len(inputs) > 1 else ""), caption_of(suite))
    for (key, size), curves in swept.items():
        machines = {name: of[0]["machine"] for name, of in curves.items()}
        several = len(set(machines.values())) > 1
        points = {f"{machines[name]}: {name}" if several else name: [(number(row["details"][key]), row["median_us"]) for row in of]
                  for name, of in curves.items()}
        for name, of in curves.items():
            reported = [row for row in of if "reported" in row]
            if len(reported) >= 3:
                points[f"{reported[0]['reported']['machine']}, the report: {name}"] = [
                    (number(row["details"][key]), row["reported"]["us"]) for row in reported]
        on = "" if several else f", on {next(iter(machines.values()))}"
        one_input = input_of(next(iter(curves.values()))[0])
        lines(f"{name_of(suite)}: time by {SWEPT[key]}, input {one_input}{on}", points, SWEPT[key], "microseconds per frame", folder,
              file_name(suite, key, size), caption_of(suite), log_x=key not in LINEAR)


def plot_errors(figures, folder):
    """Plots the growing error of a stream without feedback, from rows without times."""
    curves = {}
    for row in figures.suite("ladders", "ladders/feedback"):
        for key in ("mean_error", "max_error"):
            curves.setdefault(f"{row['operation']}, {key.replace('_', ' ')}", []).append(
                (number(row["details"]["frame"]), float(row["details"][key])))
    if curves:
        lines("feedback: error of what viewers see by frame, input 640x360", {name: sorted(of) for name, of in curves.items()},
              "frame", "grey levels", folder, "ladders-feedback", caption_of("ladders/feedback"), log_x=False, log_y=False)


def peers_label(row):
    words = [row["operation"], row["details"].get("content", "")]
    words.append("with transfers" if row["details"].get("transfers", "none") != "none" else "")
    return f"{', '.join(filter(None, words))}; {row['runner']}"


def plot_peers(figures, folder):
    """Plots the speed relative to the fastest peer: one plot per size, batch and cache state, with all contents."""
    kinds = {}
    for row in figures.group("peers"):
        if row.get("times_peer") and row["runner"].startswith("framewire"):
            details = row["details"]
            kinds.setdefault(tuple(details.get(key, "") for key in ("size", "batch", "cache")), []).append(row)
    for (size, batch, cache), rows in kinds.items():
        panels = {}
        for row in sorted(rows, key=lambda row: row["times_peer"]):
            panels.setdefault(row["machine"], []).append((peers_label(row), row["times_peer"], GPU if is_gpu(row) else CPU, None))
        bars(f"times as fast as the fastest other, {size}, batch {batch}, {cache} cache", panels, "times as fast", folder,
             file_name("peers", size, "batch", batch, cache), one=True)


def plot_growth(figures, folder):
    rows = figures.suite("jobs", "jobs/growth")
    for along in sorted({row["details"]["along"] for row in rows}):
        curves = {}
        for row in (row for row in rows if row["details"]["along"] == along):
            value = row["details"][along]
            width, _, height = value.partition("x")
            across = float(width) * float(height) / 1e6 if height else number(value)
            curves.setdefault(row["runner"], []).append((across, row["median_us"]))
        lines(f"what a frame costs the server, by {along}", {name: sorted(of) for name, of in curves.items()},
              "megapixels" if along == "size" else along, "microseconds of processor time per frame", folder,
              file_name("jobs-growth", along))


def plot_limits(figures, folder):
    bandwidths, costs = {}, {}
    for row in figures.group("limits"):
        colour = GPU if is_gpu(row) else CPU
        if row.get("bytes"):
            entry = (row["operation"], row["bytes"] / row["median_us"] * 1e-3, colour, None)
            bandwidths.setdefault(row["machine"], []).append(entry)
        else:
            costs.setdefault(row["machine"], []).append((row["operation"], row["median_us"], colour, None))
    bars("bytes that a machine moves, read and written", bandwidths, "GB per second", folder, "limits-bytes")
    bars("what calls cost", costs, "microseconds", folder, "limits-calls")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE.json")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="folder to write the plots to")
    arguments = parser.parse_args()
    figures = Figures(arguments.files)
    os.makedirs(arguments.output, exist_ok=True)
    for suite in figures.suites("ladders"):
        plot_ladder(figures, suite, arguments.output)
    plot_errors(figures, arguments.output)
    plot_peers(figures, arguments.output)
    plot_growth(figures, arguments.output)
    plot_limits(figures, arguments.output)


if __name__ == "__main__":
    main()
