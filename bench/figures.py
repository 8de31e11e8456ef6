"""Input of bench/plot.py and bench/report.py: rows of `framewire bench --json`."""
import json
import re

STEPS = ["whole", "kernel", "HtoD", "DtoH", "memset", ""]
# Details of a row that may be swept, and their axis labels. Rows that differ in only one of these are points of one
# line. TUNED ones say how a variant does its work, and tables show the fastest; the others say what the work is.
TUNED = {
    "threads": "threads per block", "tile": "tile in pixels", "chunk": "bytes per thread and step", "block": "block in pixels",
    "blocks": "blocks", "streams": "streams",
}
SWEPT = TUNED | {
    "cell": "cell in pixels", "components": "components", "pixels": "pixels", "window": "window in pixels",
    "batch": "frames per batch",
}


def number(text):
    """The first number of a detail: 256 for "256", 16 for "16x16"; None for "pinned"."""
    found = re.match(r"\d+(\.\d+)?", str(text))
    return float(found.group()) if found else None


def is_gpu(row):
    return any(word in row["runner"].lower() for word in ("cuda", "npp", "gpu", "cupy"))


def key_of(row):
    """Limits differ by machine; everything else is shown once."""
    return (row["machine"] if row["group"] == "limits" else "", row["group"], row["suite"], row["operation"], row["runner"], tuple(sorted(row.get("details", {}).items())))


class Figures:
    """Rows of several files. If several files have a row, the first one counts."""

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
                if untimed or seen.setdefault(key_of(row), path) != path:
                    continue
                self.rows.append(row)

    def group(self, name):
        return [row for row in self.rows if row["group"] == name]

    def suites(self, group):
        return sorted({row["suite"] for row in self.group(group)})

    def suite(self, group, name):
        return [row for row in self.group(group) if row["suite"] == name]


def base_name(row):
    """The operation's name without its parameters: sizes, cells, threads, steps."""
    name = row["operation"]
    for key, value in row["details"].items():
        for said in (f", {key} {value}", f"{key} {value}, ", f", {value} {key}", f", {value}x{value}", f", {value}", f"{value}, "):
            name = name.replace(said, "")
    return name


def sweeps(rows):
    """{(swept key, size): {line's name: [rows by the key's value]}} for sweeps of four values or more."""
    found = {}
    for row in rows:
        if not row["median_us"]:
            continue
        for key, value in row["details"].items():
            if key not in SWEPT or number(value) is None:
                continue
            others = tuple(sorted((k, v) for k, v in row["details"].items() if k not in (key, "size")))
            rest = ", ".join(v for _, v in others)
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
    """The fastest row of each sweep and the rows with a report's figure, and all rows outside sweeps, in the order of `rows`."""
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
    """Three significant digits, with thousands separators."""
    if us >= 100:
        return f"{us:,.0f}"
    return f"{us:.1f}" if us >= 10 else f"{us:.2f}"
