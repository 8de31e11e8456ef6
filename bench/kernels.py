"""What ncu says of kernels (bench/profile.sh), as a table like the reports'."""
import csv

METRICS = {
    "launch__registers_per_thread": "registers",
    "sm__maximum_warps_per_active_cycle_pct": "occupancy possible, %",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "achieved, %",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct": "load efficiency, %",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct": "store efficiency, %",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "memory, %",
    "gpu__time_duration.sum": "us",
}
TO_US = {"ns": 1e-3, "nsecond": 1e-3, "us": 1, "usecond": 1, "ms": 1e3, "msecond": 1e3}


def plain_name(kernel):
    """A kernel's name without namespaces and arguments."""
    name = kernel.replace("(anonymous namespace)::", "").replace("<unnamed>::", "")
    name = name.split("(")[0] if not name.startswith("(") else name
    arguments = "<" + name.split("<", 1)[1] if "<" in name else ""
    name = name.split("<", 1)[0].rsplit("::", 1)[-1].removeprefix("void ")
    return name + arguments.rsplit("::", 1)[-1] if "::" in arguments else name + arguments


def launches(path):
    """One dictionary for each kernel and launch that ncu told of, in order."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = [line for line in file if line.startswith('"')]  # what ncu says of itself begins with ==
    found = {}
    for row in csv.DictReader(lines):
        launch = found.setdefault((row["Process ID"], row["ID"]), {
            "kernel": plain_name(row["Kernel Name"]), "block": row.get("Block Size", ""), "grid": row.get("Grid Size", "")})
        value = row["Metric Value"].replace(",", "")
        if row["Metric Name"] in METRICS and value not in ("", "n/a"):
            launch[row["Metric Name"]] = float(value) * TO_US.get(row["Metric Unit"], 1)
    return list(found.values())


def kernel_table(path):
    """(head, rows): one row for each kernel and shape of launch."""
    rows = {}
    for launch in launches(path):
        key = (launch["kernel"], launch["block"], launch["grid"])
        cells = [f"{launch[name]:.4g}" if name in launch else "" for name in METRICS]
        rows.setdefault(key, list(key) + cells)
    return ["kernel", "block", "grid"] + list(METRICS.values()), [rows[key] for key in sorted(rows)]
