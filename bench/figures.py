"""Rows of `framewire bench --json`, as bench/plot.py and bench/report.py read them."""
import json
import re

STEPS = ["whole", "kernel", "HtoD", "DtoH", "memset", ""]
# Details of a row that may be swept, and their axis labels. Rows that differ in only one of them are points of one
# line. TUNED details say how a variant does its work, and tables show the fastest value; the others say what the work
# is.
TUNED = {
    "threads": "threads per block", "tile": "tile in pixels", "chunk": "bytes per thread and step", "block": "block in pixels",
    "blocks": "blocks", "streams": "streams",
}
SWEPT = TUNED | {
    "cell": "cell in pixels", "components": "components", "pixels": "pixels", "window": "window in pixels",
    "batch": "frames per batch",
}

# The five reports, and the one that each suite of ladders repeats. docs/reports.md describes them.
STREAMING_2021 = "Report: Project Webcam Streaming & Filters, GPU Programming, Politecnico di Torino, December 2021 (no author named)"
STREAMING_2022 = "Report: Project Webcam Streaming & Filters, GPU Programming, Politecnico di Torino, January 2022 (no author named)"
MOVING_OBJECTS = "Adrien Huet, Project Report (a moving object detector), Parallel Computing for Many Core Processors (CS 677), May 2023"
HOG = "Marco Cacciatori, Francesco Stella, Progetto GPU Computing - HOG, March 2022"
MOSAIC = "Report on the mosaic filter (no author and date named)"
REPORTS = {
    "ladders/binarize": [STREAMING_2022], "ladders/difference": [STREAMING_2021, STREAMING_2022],
    "ladders/feedback": [STREAMING_2021, STREAMING_2022], "ladders/gray": [STREAMING_2022], "ladders/heatmap": [STREAMING_2022],
    "ladders/noise": [STREAMING_2022], "ladders/text": [STREAMING_2022], "ladders/windows": [STREAMING_2022],
    "ladders/hog": [HOG], "ladders/mosaic": [MOSAIC], "ladders/moving_objects": [MOVING_OBJECTS],
    "ladders/component-counts": [MOVING_OBJECTS],
}
# The input of rows that do not name one (lab/ladders/ladder.hpp; component_counts.cpp).
INPUTS = {"ladders/component-counts": "2048x2048", "ladders/feedback": "640x360"}
USUAL_INPUT = "1920x1080"
MEASURED = ("fps",)  # details that are results: they do not tell rows apart


def number(text):
    """Returns the first number of a detail: 256 for "256", 16 for "16x16"; None for "pinned"."""
    found = re.match(r"\d+(\.\d+)?", str(text))
    return float(found.group()) if found else None


def is_gpu(row):
    return any(word in row["runner"].lower() for word in ("cuda", "npp", "gpu", "cupy"))


def key_of(row):
    """Returns what identifies a row. Limits are identified per machine; all other rows are shown once."""
    details = tuple(sorted((key, value) for key, value in row["details"].items() if key not in MEASURED))
    return (row["machine"] if row["group"] == "limits" else "", row["group"], row["suite"], row["operation"], row["runner"], details)


def input_of(row):
    """Returns the input of a ladder row: "1920x1080", or a report's "images" and "video"."""
    return row["details"].get("size") or row["details"].get("input") or INPUTS.get(row["suite"], USUAL_INPUT)


class Figures:
    """Rows of several files, such as docs/benchmarks/recorded. If several files have the same row, the first file's is used."""

    def __init__(self, paths):
        self.files, self.rows, seen = [], [], {}
        for path in paths:
            with open(path, encoding="utf-8") as file:
                self.files.append(json.load(file))
            machine, options = self.files[-1]["machine"], self.files[-1]["options"]
            untimed = options["check"] or options.get("once")
            for row in self.files[-1]["rows"]:
                row["machine"] = machine["gpu"] if is_gpu(row) else f"{machine['cpu']}, {machine['cores']} threads"
                row["date"] = machine["date"][:10]
                row.setdefault("details", {})
                if not untimed:
                    self.add(row, path, seen)

    def add(self, row, path, seen):
        # Only their names give the number of components in rows of OpenCV's labelling and of framewire's backends.
        if row["suite"] == "ladders/component-counts" and (found := re.search(r"(\d+) squares", row["operation"])):
            row["details"].setdefault("components", found.group(1))
        if seen.setdefault(key_of(row), path) == path:
            self.rows.append(row)

    def group(self, name):
        return [row for row in self.rows if row["group"] == name]

    def suites(self, group):
        return sorted({row["suite"] for row in self.group(group)})

    def suite(self, group, name):
        return [row for row in self.group(group) if row["suite"] == name]


def base_name(row):
    """Returns the operation without the parts between commas that repeat a detail: sizes, cells, threads, steps."""
    said = {f"{count} squares" for count in [row["details"].get("components")] if count}
    for key, value in row["details"].items():
        said |= {value, f"{value}x{value}", f"{key} {value}", f"{value} {key}", f"{value} {key.removesuffix('s')}", f"{value} {key}s",
                 f"{value}x{value} {key}s"}
    return ", ".join(part for part in row["operation"].split(", ") if part not in said)


def sweeps(rows):
    """Returns {(swept key, size): {line's name: [rows by the key's value]}} for sweeps of four values or more."""
    found = {}
    for row in rows:
        if not row["median_us"]:
            continue
        for key, value in row["details"].items():
            if key not in SWEPT or number(value) is None:
                continue
            others = sorted((k, v) for k, v in row["details"].items() if k not in (key, "size", *MEASURED))
            rest = ", ".join(f"{k} {v}" if k in SWEPT else v for k, v in others)
            line = f"{base_name(row)}{', ' + rest if rest else ''} ({row['runner']})"
            found.setdefault((key, row["details"].get("size", "")), {}).setdefault(line, []).append(row)
    result = {}
    for where, lines in found.items():
        lines = {name: sorted(of, key=lambda row: number(row["details"][where[0]])) for name, of in lines.items()}
        lines = {name: of for name, of in lines.items() if len({row["details"][where[0]] for row in of}) >= 4}
        if lines:
            result[where] = lines
    return result


def without_sweeps(rows):
    """Returns the fastest row of each sweep, the rows with a report's figure and all rows outside sweeps, in the order of `rows`."""
    dropped = {}
    for (key, _), lines in sweeps(rows).items():
        if key not in TUNED:
            continue
        for of in lines.values():
            fastest = min(of, key=lambda row: row["median_us"])
            for row in of:
                if row is not fastest and "reported" not in row:
                    dropped[id(row)] = True
            fastest.setdefault("best_of", {})[key] = len(of)
    return [row for row in rows if id(row) not in dropped]


def us_text(us):
    """Formats a time with three significant digits and thousands separators."""
    if us >= 100:
        return f"{us:,.0f}"
    return f"{us:.1f}" if us >= 10 else f"{us:.2f}"
