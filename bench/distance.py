"""How far each operation is from its target (bench/targets.json) and from its limit."""
import fnmatch
import sys

from figures import us_text


def rows_of(figures, target):
    return [row for row in figures.rows if row["suite"] == target["suite"] and row["runner"] == target["runner"] and
            fnmatch.fnmatchcase(row["operation"], target["operation"]) and row["group"] in ("operations", "jobs")]


def reached(row, target):
    """Returns the share of its target that a row reaches, 1 if the target is met, None if it is relative to a peer that the run lacked."""
    if "us" in target:
        return target["us"] / row["median_us"]
    return row["times_peer"] / target["times_peer"] if "times_peer" in row else None


def distance_table(figures, targets):
    """Returns (head, rows), with the row furthest from its target first; None if no target has a row."""
    lines = []
    measured = {(row["suite"], row["runner"]) for row in figures.rows}
    for target in targets:
        rows = rows_of(figures, target)
        if not rows and (target["suite"], target["runner"]) in measured:
            print(f"no row for the target of {target['suite']}, {target['operation']}, {target['runner']}", file=sys.stderr)
        for row in rows:
            share = reached(row, target)
            if share is None:
                continue
            if "us" in target:
                want, have = f"{us_text(target['us'])} us", f"{us_text(row['median_us'])} us"
            else:
                want, have = f"{target['times_peer']:g} times the peer", f"{row['times_peer']:.2f} times; {us_text(row['median_us'])} us"
            of_limit = f"{100 * row['of_limit']:.0f} % of {row['limit']}" if "of_limit" in row else ""
            lines.append((share, [f"{row['suite']}: {row['operation']}", row["runner"], row["machine"], want, have,
                                  f"{100 * share:.0f} %", of_limit, target["reason"] if share < 1 else "met"]))
    if not lines:
        return None
    lines.sort(key=lambda line: line[0])
    head = ["operation", "runner", "machine", "target", "measured", "of the target", "of the limit", "limited by"]
    return head, [cells for _, cells in lines]
