"""Makes a table of ncu's results for kernels (bench/profile.sh) and the values that the reports give for theirs (reported_kernels.json)."""
import csv
import json
import os
import re

# ncu's name of a metric: (the table's column, its name in reported_kernels.json).
METRICS = {
    "launch__registers_per_thread": ("registers", "registers"),
    "sm__maximum_warps_per_active_cycle_pct": ("occupancy possible, %", None),
    "sm__warps_active.avg.pct_of_peak_sustained_active": ("achieved, %", "occupancy"),
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct": ("load efficiency, %", "load"),
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct": ("store efficiency, %", "store"),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": ("stores, of 32 bytes", "stores"),
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": ("memory, %", None),
    "gpu__time_duration.sum": ("us", None),
}
TO_US = {"ns": 1e-3, "nsecond": 1e-3, "us": 1, "usecond": 1, "ms": 1e3, "msecond": 1e3}


def plain_name(kernel):
    """Returns a kernel's name without namespaces, return type and parameters, but with its template arguments."""
    name = re.sub(r"[(<]?(?:anonymous namespace|unnamed)[)>]?::", "", kernel)
    name = re.sub(r"\((?:bool|int|unsigned int|unsigned char)\)(?=\d)", "", name)
    name = re.sub(r"\w+::", "", name.split("(")[0])
    return name.removeprefix("void ").strip()


def launches(path):
    """Returns one dictionary for each kernel and launch that ncu reported, in order."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = [line for line in file if line.startswith('"')]  # ncu's own messages begin with ==
    found, suite = {}, 0
    for row in csv.DictReader(lines):
        if row["ID"] == "ID":  # header line of a further suite
            suite += 1
            continue
        launch = found.setdefault((suite, row["Process ID"], row["ID"]), {
            "kernel": plain_name(row["Kernel Name"]), "block": row.get("Block Size", ""), "grid": row.get("Grid Size", "")})
        value = row["Metric Value"].replace(",", "")
        if row["Metric Name"] in METRICS and value not in ("", "n/a"):
            launch[row["Metric Name"]] = float(value) * TO_US.get(row["Metric Unit"], 1)
    return list(found.values())


def shape(text):
    """Returns "32x16" for "(32, 16, 1)"."""
    numbers = re.findall(r"\d+", text)
    while len(numbers) > 1 and numbers[-1] == "1":
        numbers.pop()
    return "x".join(numbers)


REPORTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reported_kernels.json")


def joined(texts):
    """Joins the texts without duplicates."""
    return "; ".join(dict.fromkeys(texts))


def reported_of(kernel, block, reported):
    """Returns the reports' values for a kernel; values with a block size only apply to launches with such blocks."""
    return [reported for reported in reported if reported["kernel"] == kernel and reported.get("block", block) == block]


def row_of(key, launch, reported):
    """Returns a row of the table, with the reports' figures in brackets and their sources in the last column."""
    cells = []
    for metric, (_, own) in METRICS.items():
        cell = f"{launch[metric]:.4g}" if metric in launch else ""
        own_figures = joined(f"{one[own]:g}" for one in reported if own in one)
        cells.append(f"{cell} ({own_figures})".strip() if own_figures else cell)
    return [*key, *cells, joined(f"{one['machine']} ({one['where']})" for one in reported)]


def kernel_table(path):
    """Returns (head, rows): one row for each kernel and launch shape."""
    with open(REPORTED, encoding="utf-8") as file:
        reported = json.load(file)
    rows = {}
    for launch in launches(path):
        key = (launch["kernel"], shape(launch["block"]), shape(launch["grid"]))
        rows.setdefault(key, row_of(key, launch, reported_of(key[0], key[1], reported)))
    head = ["kernel", "block", "grid", *(column for column, _ in METRICS.values()), "in brackets"]
    return head, [rows[key] for key in sorted(rows)]


def with_rows_of(page, head, rows):
    """Returns the rows, and those of other kernels and shapes from the page's table with the same head."""
    if not os.path.exists(page):
        return rows
    with open(page, encoding="utf-8") as file:
        lines = [line[2:-2].split(" | ") for line in map(str.strip, file) if line.startswith("| ")]
    if not lines or [cell.strip() for cell in lines[0]] != head:
        return rows
    new = {tuple(row[:3]) for row in rows}
    kept = [[cell.strip() for cell in line] for line in lines[2:] if len(line) == len(head)]
    return sorted(rows + [row for row in kept if tuple(row[:3]) not in new])
