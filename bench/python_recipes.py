#!/usr/bin/python3
"""Compares examples/python/recipes.py with opencv_recipes.py: prints a row for each job with its lines of code, with those of
the classes and functions that it uses, and the time of each over a clip.

    PYTHONPATH=SITE bench/python_recipes.py CLIP [FRAMES [RUNS]]    SITE: the unpacked wheel (scripts/python-wheel.sh)

The clip is cut to its first FRAMES (200) frames. Times are the shortest of RUNS (3), which alternate.
"""
import inspect
import os
import re
import sys
import tempfile
import time

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../examples/python")
sys.path.insert(0, FOLDER)
import framewire  # noqa: E402
import opencv_recipes  # noqa: E402
import recipes  # noqa: E402

JOBS = ("blur", "privacy", "count", "first_motion", "paths", "features", "document", "heat", "timelapse", "sheet")


def lines(module, name, counted=None):
    """Returns the number of lines of code of a function and of what it uses of its module, without docstrings."""
    counted = set() if counted is None else counted
    counted.add(name)
    source = re.sub(r'"""[^"]*"""', "", inspect.getsource(getattr(module, name)))
    total = sum(1 for line in source.split("\n") if line.strip())
    for word in sorted(set(re.findall(r"\b\w+\b", source)) - counted):
        used = getattr(module, word, None)
        if inspect.getmodule(used) is module and word not in counted:
            total += lines(module, word, counted)
    return total


def arguments(name, clip, folder, suffix):
    """Returns the arguments of a job."""
    out = os.path.join(folder, f"{name}-{suffix}.mp4")
    if name in ("blur", "privacy", "timelapse"):
        return clip, out
    if name == "count":
        return (os.path.dirname(clip),)
    if name == "features":
        return ([frame for frame in framewire.Source(clip, duration=2)],)
    if name == "document":
        return os.path.join(folder, "page.png"), os.path.join(folder, f"page-{suffix}.png")
    return (clip,)


def main(clip, frames=200, runs=3):
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "clips"))
        cut = os.path.join(folder, "clips/clip.mp4")
        with framewire.Sink(cut, rate=framewire.Source(clip).rate) as sink:
            for number, frame in enumerate(framewire.Source(clip)):
                if number == int(frames):
                    break
                sink.write(frame)
        with framewire.Sink(os.path.join(folder, "page.png")) as sink:
            sink.write(next(iter(framewire.Source(clip))))
        print("| job | lines | with OpenCV | time | with OpenCV |\n|---|---|---|---|---|")
        for name in JOBS:
            modules, best = (recipes, opencv_recipes), [float("inf")] * 2
            for _ in range(int(runs)):
                for index, module in enumerate(modules):
                    given = arguments(name, cut, folder, module.__name__)
                    began = time.perf_counter()
                    getattr(module, name)(*given)
                    best[index] = min(best[index], time.perf_counter() - began)
            print(f"| `{name}` | {lines(recipes, name)} | {lines(opencv_recipes, name)} | {1000 * best[0]:.0f} ms | "
                  f"{1000 * best[1]:.0f} ms |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
