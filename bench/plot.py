#!/usr/bin/python3
"""Plots the results of `framewire bench --json` with Debian's matplotlib.

    bench/plot.py FILE.json... -o DIR

Plots each ladder as bars beside the report's figures, its sweeps as lines, peers as ratios, the growth of jobs, and the machine's
limits. If several files have a row, the first one counts.
"""
import argparse
import os
import re

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

from figures import STEPS, SWEPT, Figures, base_name, is_gpu, number, sweeps, us_text, without_sweeps  # noqa: E402

CPU, GPU, REPORT, PEER = "#2471a3", "#1e8449", "#b9770e", "#7d3c98"
LINES = ["#2471a3", "#1e8449", "#c0392b", "#7d3c98", "#b9770e", "#148f77", "#5d6d7e", "#d35400"]
MOST_BARS = 60
MARGIN_IN, BAR_IN, WIDTH_IN = 1.1, 0.2, 9.0

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


def bars(title, entries, unit, folder, name, log=True, one=False):
    """`entries`: (label, value, colour, the report's value or None), from top to bottom."""
    entries = entries[:MOST_BARS]
    if not entries:
        return
    figure, axes = plt.subplots(figsize=(WIDTH_IN, MARGIN_IN + BAR_IN * len(entries)))
    places = range(len(entries), 0, -1)
    axes.barh(places, [entry[1] for entry in entries], 0.7, color=[entry[2] for entry in entries])
    reported = [(place, entry[3]) for place, entry in zip(places, entries) if entry[3]]
    if reported:
        axes.scatter([us for _, us in reported], [place for place, _ in reported], marker="D", s=22, color=REPORT, zorder=3,
                     label="the report's figure, on its machine")
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1))
    for place, entry in zip(places, entries):
        axes.annotate(us_text(entry[1]), (entry[1], place), xytext=(3, 0), textcoords="offset points", va="center", fontsize=7)
    if one:
        axes.axvline(1, color="#333333", linewidth=1)
    axes.set_yticks(list(places), [entry[0] for entry in entries])
    axes.set_ylim(0.3, len(entries) + 0.7)
    if log:
        axes.set_xscale("log")
    axes.set_xlabel(unit)
    axes.set_title(title, loc="left")
    axes.grid(axis="y", visible=False)
    save(figure, folder, name)


def lines(title, curves, across, unit, folder, name, log_x=True, log_y=True):
    """`curves`: {label: [(x, y)]}"""
    figure, axes = plt.subplots(figsize=(WIDTH_IN, 4.2))
    for index, (label, points) in enumerate(sorted(curves.items())):
        style = "-" if index < len(LINES) else "--"
        axes.plot(*zip(*points), style, marker="o", markersize=3, color=LINES[index % len(LINES)], label=label)
    if log_x:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%g"))
    if log_y:
        axes.set_yscale("log")
    axes.set_xlabel(across)
    axes.set_ylabel(unit)
    axes.set_title(title, loc="left")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), fontsize=7)
    save(figure, folder, name)


def file_name(*parts):
    return re.sub(r"[^a-z0-9]+", "-", "-".join(parts).lower()).strip("-")


def label_of(row):
    """The parameters that distinguish a bar from its neighbours."""
    details = [value if key in ("step", "size") else f"{key} {value}" for key, value in row["details"].items()
               if (key in SWEPT or key in ("step", "size")) and value]
    return f"{base_name(row)}{' (' + ', '.join(details) + ')' if details else ''}; {row['runner']}"


def plot_ladder(figures, suite, folder):
    rows = [row for row in figures.suite("ladders", suite) if row["median_us"]]
    kept = without_sweeps(rows)
    kept.sort(key=lambda row: STEPS.index(row["details"].get("step", "")) if row["details"].get("step", "") in STEPS else 99)
    for part, chosen in (("frames", [row for row in kept if row["details"].get("step", "whole") in ("whole", "")]),
                         ("steps", [row for row in kept if row["details"].get("step", "whole") not in ("whole", "")])):
        entries = [(label_of(row), row["median_us"], GPU if is_gpu(row) else CPU, row.get("reported", {}).get("us"))
                   for row in chosen]
        bars(f"{suite}, {part}", entries, "microseconds per frame", folder, file_name(suite, part))
    for (key, size), curves in sweeps([row for row in rows if row["details"].get("step") not in ("HtoD", "DtoH", "memset")]).items():
        points = {name: [(number(row["details"][key]), row["median_us"]) for row in of] for name, of in curves.items()}
        points.update({f"{name}, the report": reported for name, of in curves.items()
                       if len(reported := [(number(row["details"][key]), row["reported"]["us"]) for row in of
                                       if "reported" in row]) >= 3})
        lines(f"{suite}, {SWEPT[key]}{', ' + size if size else ''}", points, SWEPT[key], "microseconds per frame", folder,
              file_name(suite, key, size))


def plot_errors(figures, folder):
    """The growing error of a stream without feedback, from rows without times."""
    curves = {}
    for row in figures.suite("ladders", "ladders/feedback"):
        for key in ("mean_error", "max_error"):
            curves.setdefault(f"{row['operation']}, {key.replace('_', ' ')}", []).append(
                (number(row["details"]["frame"]), float(row["details"][key])))
    if curves:
        lines("error of what viewers see, by frame", {name: sorted(of) for name, of in curves.items()}, "frame",
              "grey levels", folder, "ladders-feedback", log_x=False, log_y=False)


def peers_label(row):
    words = [row["operation"], row["details"].get("content", "")]
    words.append("with transfers" if row["details"].get("transfers", "none") != "none" else "")
    return f"{', '.join(filter(None, words))}; {row['runner']}"


def plot_peers(figures, folder):
    """Speed relative to the fastest other one; one plot per size, batch and cache, with all contents."""
    kinds = {}
    for row in figures.group("peers"):
        if row.get("times_peer") and row["runner"].startswith("framewire"):
            details = row["details"]
            kinds.setdefault(tuple(details.get(key, "") for key in ("size", "batch", "cache")), []).append(row)
    for (size, batch, cache), rows in kinds.items():
        rows.sort(key=lambda row: row["times_peer"])
        entries = [(peers_label(row), row["times_peer"], GPU if is_gpu(row) else CPU, None) for row in rows]
        bars(f"times as fast as the fastest other, {size}, batch {batch}, {cache} cache", entries, "times as fast", folder,
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
    rows = figures.group("limits")
    bandwidths = [(row["operation"], row["bytes"] / row["median_us"] * 1e-3, GPU if is_gpu(row) else CPU, None)
                  for row in rows if row.get("bytes")]
    bars("bytes that this machine moves, read and written", bandwidths, "GB per second", folder, "limits-bytes")
    costs = [(row["operation"], row["median_us"], GPU, None) for row in rows if not row.get("bytes")]
    bars("what calls cost", costs, "microseconds", folder, "limits-calls")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE.json")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="the folder that the plots go to")
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
