#!/usr/bin/python3
"""Writes docs/benchmarks.md between its markers, and the pages of docs/benchmarks, from the results of `framewire bench --json`.

    bench/report.py FILE.json... [--profile PROFILE.csv] [--page docs/benchmarks.md]
    bench/report.py --pages docs/benchmarks/recorded/*.json    the pages of docs/benchmarks alone

If several files have a row, the first one counts. PROFILE.csv is the output of bench/profile.sh. Plots of bench/plot.py in
benchmarks/plots beside the page are shown above their tables. Sections without new results stay unchanged.
"""
import argparse
import json
import os
import re
import sys

from distance import distance_table
from figures import REPORTS, TUNED, Figures, base_name, sweeps, us_text, without_sweeps
from kernels import kernel_table, with_rows_of
from plot import file_name

MOST_UNTIMED = 12  # rows of a table without times
MOST_SWEPT = 5  # rows of one sweep of the work itself that a table shows; of a longer sweep it shows four
MOST_OF_LIMIT = 2  # above this share, a step moved less than the frame that its limit moves
WHOLE = ("whole", "")


def table(head, rows):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head)] + rows) + "\n"


def spread(row):
    low, high = (row.get("least_us", row["low_us"]), row.get("most_us", row["high_us"]))
    text = us_text(row["median_us"])
    return text if low == high else f"{text} ({us_text(low)} to {us_text(high)})"


def share(row):
    return f"{100 * row['of_limit']:.0f} %" if row.get("of_limit", MOST_OF_LIMIT + 1) <= MOST_OF_LIMIT else ""


def machines_table(figures):
    rows = []
    for file in figures.files:
        machine = file["machine"]
        gpu = f"{machine['gpu']}, driver {machine['driver']}, CUDA {machine['cuda']}" if machine["gpu"] else "none"
        rows.append([f"{machine['cpu']}, {machine['cores']} threads", gpu, f"{machine['compiler']}, {machine['build_type']}",
                     machine["revision"], machine["date"], ", ".join(file["options"]["groups"]) or "all"])
    return table(["CPU", "GPU", "compiler, build", "revision", "date, UTC", "groups"], rows)


def measured_on(rows):
    """Returns the machines of the rows, with the dates of their measurements."""
    dates = {}
    for row in rows:
        dates.setdefault(row["machine"], set()).add(row["date"])
    return "Measured on " + "; ".join(f"{machine}, {' and '.join(sorted(of))}" for machine, of in dates.items()) + ".\n\n"


def limits_page(figures, plots):
    rows = []
    for row in figures.group("limits"):
        speed = f"{row['bytes'] / row['median_us'] * 1e-3:,.1f} GB/s" if row.get("bytes") else ""
        rows.append([row["operation"], row["machine"], speed, spread(row), row["details"].get("threads", "")])
    return measured_on(figures.group("limits")) + (plots + "\n" if plots else "") + table(["limit", "machine", "read and written", "us", "threads"], rows)


def reported_text(row):
    reported = row["reported"]
    text = us_text(reported["us"])
    if reported.get("most_us"):
        text += f" ({us_text(reported['least_us'])} to {us_text(reported['most_us'])})"
    return f"{text}, {reported['machine']} ({reported['where']})"


def setting(row):
    """Returns the details of a row, and how many variants it is the fastest of."""
    words = []
    for key, value in row["details"].items():
        best_of = row.get("best_of", {}).get(key)
        if key == "step" or not value:
            continue
        words.append(f"{key} {value}" + (f" (best of {best_of})" if best_of else ""))
    return ", ".join(words)


def thinned(rows):
    """Returns `rows` with only four of each sweep of the work itself, such as the number of components; the plot shows all."""
    dropped = set()
    for (key, _), curves in sweeps(rows).items():
        for of in curves.values() if key not in TUNED else ():
            if len(of) > MOST_SWEPT:
                kept = {(len(of) - 1) * third // 3 for third in range(4)}
                dropped |= {id(row) for index, row in enumerate(of) if index not in kept}
    return [row for row in rows if id(row) not in dropped]


def ladder_table(rows):
    notes, lines = {}, []
    for row in thinned(without_sweeps(rows)):
        name = base_name(row)
        if row.get("note"):
            name += f" [{notes.setdefault(row['note'], len(notes) + 1)}]"
        reported, times = "", ""
        if "reported" in row:
            reported = reported_text(row)
            times = f"{row['reported']['us'] / row['median_us']:,.1f}"
        step = row["details"].get("step", "")
        lines.append([name, row["runner"], step, setting(row), spread(row), share(row), reported, times])
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
    """The existing plots, as Markdown for a page in `folder`."""

    def __init__(self, folder):
        self.folder = os.path.join(folder, "plots")
        self.names = sorted(os.listdir(self.folder)) if os.path.isdir(self.folder) else []

    def of(self, page_folder, *parts):
        begin, beside = file_name(*parts), os.path.relpath(self.folder, page_folder)
        return "".join(f"![{name[:-4].replace('-', ' ')}]({beside}/{name})\n"
                       for name in self.names if re.fullmatch(re.escape(begin) + r"(-.*)?\.(svg|jpg)", name))


def reports_of(suite):
    """Returns the first line of a ladder's page, which names the report that it repeats."""
    return f"Repeats experiments of [the report](../../reports.md): {'; '.join(REPORTS[suite])}.\n\n" if suite in REPORTS else ""


def ladder_page(rows, plots):
    timed, untimed = [row for row in rows if row["median_us"]], [row for row in rows if not row["median_us"]]
    text = reports_of(rows[0]["suite"]) + (measured_on(timed) if timed else "")
    text += plots + "\n" if plots else ""
    text += ladder_table(timed) + "\n" if timed else ""
    return text + (untimed_table(untimed) if untimed else "")


def of_whole_frames(rows, runner):
    return [row for row in rows if row["runner"].startswith(runner) and row["median_us"] and row["details"].get("step", "") in WHOLE]


def fastest(rows, runner, size):
    times = [row["median_us"] for row in of_whole_frames(rows, runner) if size is None or row["details"].get("size", size) == size]
    return us_text(min(times)) if times else ""


def ladders_summary(figures):
    """Returns one line per ladder and size: the report's fastest variant, the same variant here, and framewire."""
    lines = []
    for suite in figures.suites("ladders"):
        rows = figures.suite("ladders", suite)
        link = f"[{suite.removeprefix('ladders/').replace('_', ' ')}](benchmarks/{suite}.md)"
        variants = str(len({base_name(row) for row in rows if not row["runner"].startswith("framewire")}))
        best = {}
        for row in of_whole_frames(rows, ""):
            size = row["details"].get("size", "")
            if "reported" in row and (size not in best or row["reported"]["us"] < best[size]["reported"]["us"]):
                best[size] = row
        for size, row in best.items():
            reported = row["reported"]
            lines.append([link, variants, size, f"{base_name(row)} ({row['runner']})", f"{us_text(reported['us'])}, {reported['machine']}",
                          us_text(row["median_us"]), fastest(rows, "framewire cuda", size), fastest(rows, "framewire cpu", size)])
        if not best:
            lines.append([link, variants, "", "", "", "", fastest(rows, "framewire cuda", None), fastest(rows, "framewire cpu", None)])
    head = ["ladder", "variants", "of", "the report's fastest", "there, us", "here, us", "framewire cuda, us", "framewire cpu, us"]
    return table(head, lines)


def geometric_mean(values):
    product = 1.0
    for value in values:
        product *= value ** (1 / len(values))
    return product


def other_text(row):
    agrees = row["details"].get("agrees", "equal")
    return f"{row['runner']} {spread(row)}" + (f" [{agrees}]" if agrees != "equal" else "")


def peers_page(figures, plots):
    """Returns the page of the peers: each row of the usual size, and the mean comparison for the other sizes."""
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
    text = measured_on(rows) + (plots + "\n" if plots else "")
    text += table(["operation", "runner", "content", "us", "of limit", "others, us", "times as fast"], lines) + "\n"
    text += table(["runner", "machine", "size", "batch", "cache", "operations", "times as fast in the mean"],
                  [[*key, str(len(ratios)), f"{geometric_mean(ratios):.2f}"] for key, ratios in sorted(means.items())])
    return text


def jobs_page(figures, plots):
    text = "Times are per frame. Latency runs from the camera's frame to the viewer's picture.\n\n"
    text += plots + "\n" if plots else ""
    for suite in figures.suites("jobs"):
        rows = [row for row in figures.suite("jobs", suite) if row["median_us"]]
        text += f"## {suite.removeprefix('jobs/')}\n\n" + (measured_on(rows) if rows else "")
        text += table(["job", "runner", "machine", "us per frame", "processor us", "times the other", "setting"],
                      [[row["operation"], row["runner"], row["machine"], spread(row),
                        us_text(row["cpu_us"]) if "cpu_us" in row else "",
                        f"{row['times_peer']:.2f}" if "times_peer" in row else "", setting(row)] for row in rows]) + "\n"
    return text.rstrip() + "\n"


def replace_part(page, name, text):
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    if begin not in page or end not in page:
        sys.exit(f"the page does not contain the markers {begin} and {end}")
    before, rest = page.split(begin, 1)
    return f"{before}{begin}\n{text.strip()}\n{end}{rest.split(end, 1)[1]}"


def write_page(folder, name, title, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"<!-- written by bench/report.py -->\n\n# {title}\n\n{text.strip()}\n")
    return name


def write_pages(figures, folder, profile):
    """Writes the pages of the measured suites; returns their names."""
    plots, written = Plots(folder), []
    for suite in figures.suites("ladders"):
        pictures = plots.of(os.path.join(folder, "ladders"), suite)
        text = ladder_page(figures.suite("ladders", suite), pictures)
        written.append(write_page(folder, f"{suite}.md", f"Ladder: {suite.removeprefix('ladders/').replace('_', ' ')}", text))
    for group, page in (("limits", limits_page), ("peers", peers_page), ("jobs", jobs_page)):
        if figures.group(group):
            written.append(write_page(folder, f"{group}.md", group.capitalize(), page(figures, plots.of(folder, group))))
    if profile:
        text = ("ncu's measurements of the ladders' kernels. Efficiency is the bytes that threads requested, divided by the bytes\n"
                "that memory transferred for them. Values in brackets are a report's, for its own kernel on its own machine.\n\n")
        head, rows = kernel_table(profile)
        rows = with_rows_of(os.path.join(folder, "kernels.md"), head, rows)
        written.append(write_page(folder, "kernels.md", "Kernels", text + table(head, rows)))
    return written


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE.json")
    parser.add_argument("--profile", metavar="PROFILE.csv")
    parser.add_argument("--page", default=os.path.join(here, "..", "docs", "benchmarks.md"))
    parser.add_argument("--pages", action="store_true", help="write only the pages; leave the tables of PAGE unchanged")
    arguments = parser.parse_args()
    figures = Figures(arguments.files)
    folder = os.path.join(os.path.dirname(arguments.page), "benchmarks")
    if arguments.pages:
        print(f"wrote {', '.join(write_pages(figures, folder, arguments.profile))}")
        return
    with open(os.path.join(here, "targets.json"), encoding="utf-8") as file:
        targets = json.load(file)
    parts = {"machines": machines_table(figures)}
    if figures.group("ladders"):
        parts["ladders"] = ladders_summary(figures)
    distance = distance_table(figures, targets)
    if distance:
        parts["distance"] = table(*distance)
    with open(arguments.page, encoding="utf-8") as file:
        page = file.read()
    for name, text in parts.items():
        page = replace_part(page, name, text)
    with open(arguments.page, "w", encoding="utf-8") as file:
        file.write(page)
    pages = write_pages(figures, folder, arguments.profile)
    print(f"wrote {', '.join(parts)} of {arguments.page}, and {', '.join(pages)}")


if __name__ == "__main__":
    main()
