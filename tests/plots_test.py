#!/usr/bin/python3
"""Checks that bench/plot.py draws every row of the recorded ladders, with its input and machine, under plain names; and that
the ladders' pages are what bench/report.py writes.
Reports the way GoogleTest does."""
import glob
import os
import sys
import tempfile
import traceback

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "bench"))
os.chdir(ROOT)

import plot  # noqa: E402
import report  # noqa: E402
from figures import REPORTS, Figures, base_name, input_of, key_of, us_text  # noqa: E402

FIGURES = Figures(sorted(glob.glob("docs/benchmarks/recorded/*.json")))


def drawn(suite):
    """Returns (title, caption, {panel or curve: [times]}, labels) of each plot of a suite, without writing files."""
    plots = []

    def bars(title, panels, unit, folder, name, caption="", **_):
        if panels:
            labels = [[entry[0] for entry in entries] for entries in panels.values()]
            plots.append((title, caption, {of: [entry[1] for entry in entries] for of, entries in panels.items()}, labels))

    def lines(title, curves, across, unit, folder, name, caption="", **_):
        plots.append((title, caption, {of: [us for _, us in points] for of, points in curves.items()}, []))

    kept, plot.bars, plot.lines = (plot.bars, plot.lines), bars, lines
    try:
        plot.plot_ladder(FIGURES, suite, "")
    finally:
        plot.bars, plot.lines = kept
    return plots


def every_row_is_drawn():
    for suite in FIGURES.suites("ladders"):
        times = {us for _, _, parts, _ in drawn(suite) for of in parts.values() for us in of}
        for row in FIGURES.suite("ladders", suite):
            assert row["median_us"] in times, f"{suite}: {row['operation']}, {row['details']}, {us_text(row['median_us'])} us"


def every_bar_is_in_the_file():
    entries = [(f"bar {index}", 1.0 + index, plot.CPU, None) for index in range(200)]
    texts = []
    kept, plot.save = plot.save, lambda figure, folder, name: texts.extend(
        label.get_text() for axes in figure.axes for label in axes.get_yticklabels())
    try:
        plot.bars("title", {"machine": entries}, "us", "", "")
    finally:
        plot.save = kept
    assert texts == [entry[0] for entry in entries], texts[:3]


def titles_name_input_and_report():
    for suite in FIGURES.suites("ladders"):
        inputs = {input_of(row) for row in FIGURES.suite("ladders", suite)}
        for title, caption, _, _ in drawn(suite):
            assert any(f"input {one}" in title for one in inputs), title
            assert REPORTS[suite][0] in caption, caption


def panels_have_one_machine_and_different_labels():
    for suite in FIGURES.suites("ladders"):
        for title, _, parts, labels in drawn(suite):
            for of in labels:
                assert len(set(of)) == len(of), f"{title}: {sorted(label for label in of if of.count(label) > 1)}"
            machines = [part for part in parts if labels]
            assert all(part.startswith(("AMD EPYC", "NVIDIA H200")) for part in machines), machines


def names_are_whole():
    def name(operation, **details):
        return base_name({"operation": operation, "details": details})
    assert name("GPU, 1 stream, images, votes", streams="1", input="images", step="votes") == "GPU"
    assert name("GPU, 4 streams, video, whole", streams="4", input="video", step="whole") == "GPU"
    assert name("union-find, 200 squares, with transfers", components="200", step="whole") == "union-find, with transfers"
    assert name("GPU tiled, 8x8 blocks, 596x336", block="8x8", size="596x336") == "GPU tiled"
    assert name("mean 3", window="3") == "mean 3"
    assert name("atomics in shared memory, cell 32", cell="32") == "atomics in shared memory"


def results_do_not_tell_rows_apart():
    def key(fps):
        return key_of({"machine": "m", "group": "ladders", "suite": "s", "operation": "o", "runner": "r", "details": {"fps": fps}})
    assert key("6.3") == key("5.4")


def pages_match_the_recorded_rows():
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath("docs/benchmarks/plots"), os.path.join(folder, "plots"))
        pages = report.write_pages(FIGURES, folder, None)
        assert len(pages) == len(FIGURES.suites("ladders")) + 1, pages  # and limits.md
        for page in pages:
            with open(os.path.join(folder, page), encoding="utf-8") as made, \
                    open(os.path.join("docs/benchmarks", page), encoding="utf-8") as kept:
                assert made.read() == kept.read(), f"docs/benchmarks/{page}: bench/report.py --pages generates a different page"


def main():
    failed = False
    for name, check in (("EveryRowIsDrawn", every_row_is_drawn), ("EveryBarIsInTheFile", every_bar_is_in_the_file),
                        ("TitlesNameInputAndReport", titles_name_input_and_report),
                        ("PanelsHaveOneMachineAndDifferentLabels", panels_have_one_machine_and_different_labels),
                        ("NamesAreWhole", names_are_whole),
                        ("PagesMatchTheRecordedRows", pages_match_the_recorded_rows),
                        ("ResultsDoNotTellRowsApart", results_do_not_tell_rows_apart)):
        try:
            check()
            print(f"[       OK ] Plots.{name} (0 ms)")
        except AssertionError:
            traceback.print_exc(file=sys.stdout)
            print(f"[  FAILED  ] Plots.{name} (0 ms)")
            failed = True
    return 1 if failed else 0


sys.exit(main())
