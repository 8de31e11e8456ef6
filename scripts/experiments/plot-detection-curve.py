#!/usr/bin/env python3
"""Draws detection rate over false alarms per window, from curves that `framewire hog --train --folds --curve` writes.

    framewire hog --train people/ other/ -o model.npy --folds 10 --curve curve.csv
    scripts/experiments/plot-detection-curve.py "our model=curve.csv" ["NAME=more.csv" ...] > curve.svg

With --table it prints the detection rates at some false alarm rates as a Markdown table instead.
"""
import csv
import math
import sys

WIDTH, HEIGHT = 760, 430
LEFT, RIGHT, TOP, BOTTOM = 70, 230, 40, 55
COLOURS = ["#c0392b", "#2980b9", "#27ae60", "#e67e22", "#8e44ad"]
TABLE_RATES = [1e-1, 1e-2, 1e-3, 1e-4]


def read_curve(path):
    """[(false alarms per window, detection rate)], ascending, and the numbers of windows and positives."""
    with open(path) as file:
        rows = list(csv.DictReader(file))
    if not rows:
        sys.exit("no points in " + path)
    points = [(float(row["false_alarms_per_window"]), float(row["detection_rate"])) for row in rows]
    return sorted(points), int(rows[0]["windows"]), int(rows[0]["positives"])


def read_curves(arguments):
    curves = {}
    for argument in arguments:
        name, separator, path = argument.rpartition("=")
        if not separator:
            sys.exit(f"{argument}: a curve is NAME=FILE.csv")
        curves[name] = read_curve(path)
    return curves


def rate_at(points, most):
    """The largest detection rate with at most this many false alarms per window."""
    return max((rate for false_alarms, rate in points if false_alarms <= most), default=0.0)


def print_table(curves):
    print("| false alarms a window | " + " | ".join(curves) + " |")
    print("|---|" + "---|" * len(curves))
    for most in TABLE_RATES:
        cells = [f"{100 * rate_at(points, most):.1f} %" for points, _, _ in curves.values()]
        print(f"| {most:g} | " + " | ".join(cells) + " |")


def print_svg(curves):
    # Whole powers of ten, down to one false alarm among all windows.
    low = min(math.floor(math.log10(1 / windows)) for _, windows, _ in curves.values())
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def x_of(false_alarms):
        return LEFT + (right - LEFT) * (max(math.log10(false_alarms) if false_alarms else low, low) - low) / -low

    def y_of(rate):
        return bottom - (bottom - TOP) * rate

    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">')
    print(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>')
    print(f'<text x="{LEFT}" y="22" font-size="14">Held-out images found, by false alarms a window</text>')
    for power in range(low, 1):
        x = x_of(10 ** power)
        print(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}" stroke="#eee"/>')
        print(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{10.0 ** power:g}</text>')
    for percent in range(0, 101, 20):
        y = y_of(percent / 100)
        print(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#ddd"/>')
        print(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{percent} %</text>')
    print(f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 12}" text-anchor="middle">false alarms a window (the left edge: none)</text>')
    for index, (colour, (name, (points, windows, positives))) in enumerate(zip(COLOURS, curves.items())):
        # A threshold between two points finds what the stricter one finds: the curve has steps.
        corners = [(LEFT, y_of(rate_at(points, 0)))]
        for false_alarms, rate in points:
            if y_of(rate) < corners[-1][1]:
                corners += [(x_of(false_alarms), corners[-1][1]), (x_of(false_alarms), y_of(rate))]
        corners.append((right, corners[-1][1]))
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        print(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        y = TOP + 14 + 40 * index
        print(f'<text x="{right + 12}" y="{y}" fill="{colour}">{name}</text>')
        print(f'<text x="{right + 12}" y="{y + 15}" fill="{colour}" font-size="11">{positives} images, {windows:,} windows</text>')
    print("</svg>")


arguments = [argument for argument in sys.argv[1:] if argument != "--table"]
if not arguments:
    sys.exit(__doc__)
(print_table if "--table" in sys.argv else print_svg)(read_curves(arguments))
