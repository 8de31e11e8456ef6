#!/usr/bin/python3
"""Writes the tables of docs/benchmarks.md between its markers, from what `framewire bench --json` measured.

    bench/report.py FILE.json... [--profile PROFILE.csv] [--page docs/benchmarks.md] [--plots DIR]

A row that several files have is the first one's. PROFILE.csv is what bench/profile.sh wrote. Plots of bench/plot.py that lie in
DIR beside the page are shown above their tables. Parts that the files have nothing of stay as they are.
"""
import argparse
import json
import os
import re
import sys

from distance import distance_table
from figures import Figures, base_name, us_text, without_sweeps
from kernels import kernel_table
from plot import file_name

MOST_UNTIMED = 12  # rows of a table without times


def table(head, rows):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head)] + rows) + "\n"


def spread(row):
    low, high = (row.get("least_us", row["low_us"]), row.get("most_us", row["high_us"]))
    text = us_text(row["median_us"])
    return text if low == high else f"{text} ({us_text(low)} to {us_text(high)})"


def share(row):
    return f"{100 * row['of_limit']:.0f} %" if "of_limit" in row else ""


def machines_part(figures):
    rows = []
    for file in figures.files:
        machine = file["machine"]
        gpu = f"{machine['gpu']}, driver {machine['driver']}, CUDA {machine['cuda']}" if machine["gpu"] else "none"
        rows.append([f"{machine['cpu']}, {machine['cores']} threads", gpu, f"{machine['compiler']}, {machine['build_type']}",
                     machine["revision"], machine["date"], ", ".join(file["options"]["groups"]) or "all"])
    return table(["CPU", "GPU", "compiler, build", "revision", "date, UTC", "groups"], rows)


def limits_part(figures):
    rows = []
    for row in figures.group("limits"):
        speed = f"{row['bytes'] / row['median_us'] * 1e-3:,.1f} GB/s" if row.get("bytes") else ""
        rows.append([row["operation"], row["machine"], speed, spread(row), row["details"].get("threads", "")])
    return table(["limit", "machine", "read and written", "us", "threads"], rows)


def reported_text(row):
    told = row["reported"]
    text = us_text(told["us"])
    if told.get("most_us"):
        text += f" ({us_text(told['least_us'])} to {us_text(told['most_us'])})"
    return f"{text}, {told['machine']} ({told['where']})"


def setting(row):
    """The details that a table has, and of how many the fastest one is shown."""
    words = []
    for key, value in row["details"].items():
        best_of = row.get("best_of", {}).get(key)
        if key == "step" or not value:
            continue
        words.append(f"{key} {value}" + (f" (best of {best_of})" if best_of else ""))
    return ", ".join(words)


def ladder_table(rows):
    notes, lines = {}, []
    for row in without_sweeps(rows):
        name = base_name(row)
        if row.get("note"):
            name += f" [{notes.setdefault(row['note'], len(notes) + 1)}]"
        told, times = "", ""
        if "reported" in row:
            told = reported_text(row)
            times = f"{row['reported']['us'] / row['median_us']:,.1f}"
        step = row["details"].get("step", "")
        lines.append([name, row["runner"], step, setting(row), spread(row), share(row), told, times])
    text = table(["variant", "runner", "step", "setting", "us: median (least to most)", "of limit", "report, us", "times as fast"], lines)
    return text + "".join(f"\n{at}. {note}" for note, at in notes.items()) + ("\n" if notes else "")


def untimed_table(rows):
    keys = list(dict.fromkeys(key for row in rows for key in row["details"]))
    operations = list(dict.fromkeys(row["operation"] for row in rows))
    lines = []
    for operation in operations:
        own = [row for row in rows if row["operation"] == operation]
        lines += [[operation] + [row["details"].get(key, "") for key in keys]
                  for row in own[::max(1, len(own) * len(operations) // MOST_UNTIMED)]]
    return table(["what"] + [key.replace("_", " ") for key in keys], lines)


class Plots:
    """Plots that are there, as Markdown beside the page."""

    def __init__(self, folder, page):
        self.names = sorted(os.listdir(folder)) if folder and os.path.isdir(folder) else []
        self.beside = os.path.relpath(folder, os.path.dirname(page)) if folder else ""

    def of(self, *parts):
        begin = file_name(*parts)
        return "".join(f"![{name[:-4].replace('-', ' ')}]({self.beside}/{name})\n"
                       for name in self.names if re.fullmatch(re.escape(begin) + r"(-.*)?\.svg", name))


def ladders_part(figures, plots):
    text = ""
    for suite in figures.suites("ladders"):
        rows = figures.suite("ladders", suite)
        timed, untimed = [row for row in rows if row["median_us"]], [row for row in rows if not row["median_us"]]
        machines = list(dict.fromkeys(row["machine"] for row in timed))
        text += f"### {suite.removeprefix('ladders/')}\n\n"
        text += f"On {' and '.join(machines)}.\n\n" if machines else ""
        text += plots.of(suite) + "\n"
        text += ladder_table(timed) + "\n" if timed else ""
        text += untimed_table(untimed) + "\n" if untimed else ""
    return text.rstrip() + "\n"


def geometric_mean(values):
    product = 1.0
    for value in values:
        product *= value ** (1 / len(values))
    return product


def other_text(row):
    agrees = row["details"].get("agrees", "equal")
    return f"{row['runner']} {spread(row)}" + (f" [{agrees}]" if agrees != "equal" else "")


def peers_part(figures, plots):
    """The usual size row by row; of the others how they compare in the mean."""
    rows = [row for row in figures.group("peers") if row["median_us"]]
    contests = {}
    for row in rows:
        details = row["details"]
        setting_of = tuple(details.get(key, "").replace("none", "") for key in ("size", "content", "cache", "batch", "transfers"))
        contests.setdefault((row["operation"], row["machine"], setting_of), []).append(row)
    lines, means = [], {}
    for (operation, machine, (size, content, cache, batch, transfers)), group in contests.items():
        own = [row for row in group if row["runner"].startswith("framewire")]
        others = sorted((row for row in group if not row["runner"].startswith("framewire")), key=lambda row: row["median_us"])
        for row in own:
            if not others:
                continue
            ratio = others[0]["median_us"] / row["median_us"]
            means.setdefault((row["runner"], machine, size, batch, cache), []).append(ratio)
            if size in ("1920x1080", ""):
                words = [content, cache, f"batch {batch}" if batch else "", f"transfers {transfers}" if transfers else ""]
                lines.append([operation, row["runner"], ", ".join(filter(None, words)), spread(row), share(row),
                              "; ".join(other_text(other) for other in others[:3]), f"{ratio:.2f}"])
    text = plots.of("peers") + "\n" if plots.of("peers") else ""
    text += table(["operation", "runner", "content", "us", "of limit", "others, us", "times as fast"], lines) + "\n"
    text += table(["runner", "machine", "size", "batch", "cache", "operations", "times as fast in the mean"],
                  [[*key, str(len(ratios)), f"{geometric_mean(ratios):.2f}"] for key, ratios in sorted(means.items())])
    return text


def jobs_part(figures, plots):
    text = plots.of("jobs") + "\n" if plots.of("jobs") else ""
    for suite in figures.suites("jobs"):
        rows = [row for row in figures.suite("jobs", suite) if row["median_us"]]
        text += f"### {suite.removeprefix('jobs/')}\n\n"
        text += table(["job", "runner", "machine", "us per frame", "processor us", "times the other", "setting"],
                      [[row["operation"], row["runner"], row["machine"], spread(row),
                        us_text(row["cpu_us"]) if "cpu_us" in row else "",
                        f"{row['times_peer']:.2f}" if "times_peer" in row else "", setting(row)] for row in rows]) + "\n"
    return text.rstrip() + "\n"


def replace_part(page, name, text):
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    if begin not in page or end not in page:
        sys.exit(f"the page has no markers {begin} and {end}")
    before, rest = page.split(begin, 1)
    return f"{before}{begin}\n{text.strip()}\n{end}{rest.split(end, 1)[1]}"


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE.json")
    parser.add_argument("--profile", metavar="PROFILE.csv")
    parser.add_argument("--page", default=os.path.join(here, "..", "docs", "benchmarks.md"))
    parser.add_argument("--plots", metavar="DIR", help="the page's folder benchmarks without it")
    arguments = parser.parse_args()
    figures = Figures(arguments.files)
    plots = Plots(arguments.plots or os.path.join(os.path.dirname(arguments.page), "benchmarks"), arguments.page)
    with open(os.path.join(here, "marks.json"), encoding="utf-8") as file:
        marks = json.load(file)
    parts = {"machines": machines_part(figures)}
    if figures.group("limits"):
        parts["limits"] = limits_part(figures)
    for group, part in (("ladders", ladders_part), ("peers", peers_part), ("jobs", jobs_part)):
        if figures.group(group):
            parts[group] = part(figures, plots)
    distance = distance_table(figures, marks)
    if distance:
        parts["distance"] = table(*distance)
    if arguments.profile:
        parts["profile"] = table(*kernel_table(arguments.profile))
    with open(arguments.page, encoding="utf-8") as file:
        page = file.read()
    for name, text in parts.items():
        page = replace_part(page, name, text)
    with open(arguments.page, "w", encoding="utf-8") as file:
        file.write(page)
    print(f"wrote {', '.join(parts)} of {arguments.page}")


if __name__ == "__main__":
    main()
