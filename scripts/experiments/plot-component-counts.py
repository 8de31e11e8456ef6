#!/usr/bin/env python3
"""Draws the moving-object report's figure 14, time over the number of components, from framewire-bench's rows.

    framewire bench ladders/component-counts --json rows.json
    scripts/experiments/plot-component-counts.py rows.json [more.json ...] > docs/detect/component-counts.svg

With --table it prints the numbers as a Markdown table instead. If several files have a line, the first one counts.
"""
import json
import math
import re
import sys

WIDTH, HEIGHT = 760, 430
LEFT, RIGHT, TOP, BOTTOM = 70, 230, 40, 55
COLOURS = ["#c0392b", "#e67e22", "#2980b9", "#27ae60", "#8e44ad", "#16a085", "#7f8c8d", "#2c3e50", "#d35400"]
MOST_COMPONENTS = 3600


def read_lines(paths):
    """{name of a line: {number of components: microseconds}}"""
    lines = {}
    for path in paths:
        with open(path) as file:
            rows = json.load(file)
        for row in rows["rows"]:
            match = re.fullmatch(r"(.*), (\d+) squares(?:, (.*))?", row["operation"])
            if row["suite"] != "ladders/component-counts" or not match:
                continue
            what, count, how = match.groups()
            runner = row["runner"]
            if runner == "framewire cuda":
                runner = f"framewire, {rows['gpu']}"
            elif runner == "framewire cpu":
                runner = "framewire, CPU"
            name = ", ".join(part for part in (runner, what, how) if part)
            lines.setdefault(name, {}).setdefault(int(count), row["median_us"])
    if not lines:
        sys.exit("no rows of the suite ladders/component-counts in " + ", ".join(paths))
    return dict(sorted(lines.items(), key=lambda line: -line[1][max(line[1])]))


def print_table(lines):
    counts = sorted({count for line in lines.values() for count in line})
    print("| components | " + " | ".join(lines) + " |")
    print("|---|" + "---|" * len(lines))
    for count in counts:
        cells = [f"{line[count]:.1f}" if count in line else "" for line in lines.values()]
        print(f"| {count} | " + " | ".join(cells) + " |")


def print_svg(lines):
    values = [us for line in lines.values() for us in line.values()]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def x_of(count):
        return LEFT + (right - LEFT) * count / MOST_COMPONENTS

    def y_of(us):
        return bottom - (bottom - TOP) * (math.log10(us) - low) / (high - low)

    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">')
    print(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>')
    print(f'<text x="{LEFT}" y="22" font-size="14">Labelling 2048x2048: microseconds a frame by number of 20x20 squares</text>')
    for power in range(low, high + 1):
        y = y_of(10 ** power)
        print(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#ddd"/>')
        print(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10 ** power:,}</text>')
    for count in range(0, MOST_COMPONENTS + 1, 600):
        x = x_of(count)
        print(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}" stroke="#eee"/>')
        print(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{count}</text>')
    print(f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 12}" text-anchor="middle">components</text>')
    text_end = 0
    for colour, (name, line) in zip(COLOURS, lines.items()):  # the slowest, that is the uppermost, first
        points = " ".join(f"{x_of(count):.1f},{y_of(us):.1f}" for count, us in sorted(line.items()))
        print(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        y = max(y_of(line[max(line)]), text_end)
        text_end = y + 32
        words = name.split(", ")
        break_at = 1 if words[0] == "OpenCV" else 2
        for index, word in enumerate((", ".join(words[:break_at]), ", ".join(words[break_at:]))):
            print(f'<text x="{right + 8}" y="{y + 4 + 14 * index:.1f}" fill="{colour}">{word}</text>')
    print("</svg>")


arguments = [argument for argument in sys.argv[1:] if argument != "--table"]
if not arguments:
    sys.exit(__doc__)
(print_table if "--table" in sys.argv else print_svg)(read_lines(arguments))
