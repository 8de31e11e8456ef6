#!/usr/bin/env python3
"""Scores `framewire detect --track` on synthetic rooms with known objects, and prints a Markdown table.

    bench/tracking.py build/dev/framewire [--seeds 1,2,3] [--objects 3,8] [--noise 4,8] [--frames 900]
                      [--background MODEL] [--track VALUES]

A track matches a true box if their intersection over union is at least one half. Truths of fewer than 100 pixels are
neither required nor wrong. An object that has left the picture and returns is a new object, since nothing in the picture
says that it is the same one. Identity changes and MOTA are those of Bernardin and Stiefelhagen 2008, HOTA that of Luiten
et al. 2020 (mean over thresholds from 0.05 to 0.95). `balloon` lists whether the balloons (every fifth object) count:
their truth includes a string of one pixel that no mask keeps, so their true box is about twice as high as what is seen.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

THRESHOLDS = np.arange(1, 20) * 0.05
LEAST_AREA = 100


def overlaps(a, b):
    """Returns the intersection over union of all pairs of boxes, rows of left, top, width, height."""
    a, b = np.asarray(a, float).reshape(-1, 1, 4), np.asarray(b, float).reshape(1, -1, 4)
    size = np.minimum(a[..., :2] + a[..., 2:], b[..., :2] + b[..., 2:]) - np.maximum(a[..., :2], b[..., :2])
    both = np.prod(np.maximum(size, 0), axis=-1)
    return both / (np.prod(a[..., 2:], axis=-1) + np.prod(b[..., 2:], axis=-1) - both)


def assign(scores):
    """Returns the pairs (row, column) with the largest sum of scores (Kuhn 1955); pairs of score 0 are left out."""
    scores = np.asarray(scores, float)
    if scores.size == 0:
        return []
    if scores.shape[0] > scores.shape[1]:
        return [(row, column) for column, row in assign(scores.T)]
    rows, columns = scores.shape
    row_potential, column_potential = np.zeros(rows + 1), np.zeros(columns + 1)
    row_of = np.zeros(columns + 1, int)
    for row in range(1, rows + 1):
        row_of[0], column = row, 0
        distance, done = np.full(columns + 1, np.inf), np.zeros(columns + 1, bool)
        before = np.zeros(columns + 1, int)
        while True:
            done[column] = True
            current = row_of[column]
            reduced = -scores[current - 1] - row_potential[current] - column_potential[1:]
            better = ~done[1:] & (reduced < distance[1:])
            distance[1:][better], before[1:][better] = reduced[better], column
            following = int(np.argmin(np.where(done, np.inf, distance)))
            step = distance[following]
            row_potential[row_of[done]] += step
            column_potential[done] -= step
            distance[~done] -= step
            column = following
            if row_of[column] == 0:
                break
        while column:
            row_of[column] = row_of[before[column]]
            column = before[column]
    pairs = [(row_of[column] - 1, column - 1) for column in range(1, columns + 1) if row_of[column]]
    return [(row, column) for row, column in pairs if scores[row, column] > 0]


def is_balloon(figure):
    return figure % 5 == 0


def read_truth(path):
    """Returns, per frame, (identity, box, counts, figure) of each visible object."""
    frames, identity, last, count = [], {}, {}, 0
    for number, line in enumerate(open(path)):
        record = json.loads(line)
        frame = []
        for true in record["objects"]:
            figure, (left, _, width, _) = true["id"], true["box"]
            if figure not in last or (number - last[figure][0] > 1 and last[figure][1]):
                count += 1
                identity[figure] = count
            last[figure] = number, left <= 1 or left + width >= record["width"] - 1
            frame.append((identity[figure], true["box"], true["area"] >= LEAST_AREA, figure))
        frames.append(frame)
    return frames


def read_tracks(path):
    """Returns, per frame, (id, box) of each track."""
    return [[(one["track"], one["box"]) for one in json.loads(line)["objects"] if "track" in one] for line in open(path)]


class Counts:
    """Sums over the frames of one video."""

    def __init__(self):
        self.true = self.matched = self.false = self.changes = 0
        self.hota = []

    def add(self, other):
        for name in ("true", "matched", "false", "changes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.hota += other.hota

    def row(self):
        missed = self.true - self.matched
        return "{:.3f} | {:.3f} | {} | {:.2f} % | {:.3f} | {:.3f}".format(
            self.matched / self.true, self.matched / (self.matched + self.false), self.changes,
            100 * self.changes / self.matched, 1 - (missed + self.false + self.changes) / self.true, np.mean(self.hota))


def match_frame(true, tracks, overlap, previous):
    """Returns the pairs of a frame (CLEAR MOT): those of the frame before, as long as they hold, then the best."""
    pairs = []
    for row, (identity, *_) in enumerate(true):
        for column, (track, _) in enumerate(tracks):
            if previous.get(identity) == track and overlap[row, column] >= 0.5 and column not in [b for _, b in pairs]:
                pairs.append((row, column))
    rows = [row for row in range(len(true)) if row not in [a for a, _ in pairs]]
    columns = [column for column in range(len(tracks)) if column not in [b for _, b in pairs]]
    rest = overlap[np.ix_(rows, columns)]
    return pairs + [(rows[a], columns[b]) for a, b in assign(np.where(rest >= 0.5, 1 + rest, 0))]


def score(truth, tracked, balloons):
    counts, previous = Counts(), {}
    kept = []  # per frame: identities, tracks, overlaps of those that count
    for true, tracks in zip(truth, tracked):
        overlap = overlaps([box for _, box, *_ in true], [box for _, box in tracks])
        pairs = dict(match_frame(true, tracks, overlap, previous))
        counted = [one[2] and (balloons or not is_balloon(one[3])) for one in true]
        for row, column in pairs.items():
            identity, track = true[row][0], tracks[column][0]
            if counted[row]:
                counts.matched += 1
                counts.changes += previous.get(identity, track) != track
            previous[identity] = track
        counts.true += sum(counted)
        # A track that only touches truths that do not count is neither right nor wrong.
        valid = []
        for column in range(len(tracks)):
            matched = [row for row, other in pairs.items() if other == column]
            touched = [row for row in range(len(true)) if overlap[row, column] > 0]
            ignored = any(not counted[row] for row in matched or touched)
            counts.false += not matched and not ignored
            if not ignored:
                valid.append(column)
        rows = [row for row in range(len(true)) if counted[row]]
        kept.append(([true[row][0] for row in rows], [tracks[column][0] for column in valid],
                     overlap[np.ix_(rows, valid)]))
    counts.hota = [hota(kept)]
    return counts


def hota(frames):
    """Returns HOTA: the geometric mean of detection and association accuracy, averaged over the thresholds."""
    identities = {one: index for index, one in enumerate(sorted({one for frame in frames for one in frame[0]}))}
    ids = {one: index for index, one in enumerate(sorted({one for frame in frames for one in frame[1]}))}
    if not identities or not ids:
        return 0.0
    jaccard = np.zeros((len(identities), len(ids)))
    true_frames, track_frames = np.zeros((len(identities), 1)), np.zeros((1, len(ids)))
    located = []
    for true, tracks, overlap in frames:
        rows, columns = [identities[one] for one in true], [ids[one] for one in tracks]
        located.append((rows, columns))
        total = overlap.sum(0, keepdims=True) + overlap.sum(1, keepdims=True) - overlap
        jaccard[np.ix_(rows, columns)] += np.divide(overlap, total, out=np.zeros_like(overlap), where=total > 0)
        true_frames[rows] += 1
        track_frames[0, columns] += 1
    alignment = jaccard / (true_frames + track_frames - jaccard)
    matches = np.zeros((len(THRESHOLDS), len(identities), len(ids)))
    for (rows, columns), (_, _, overlap) in zip(located, frames):
        for row, column in assign(alignment[np.ix_(rows, columns)] * overlap):
            matches[overlap[row, column] >= THRESHOLDS - 1e-9, rows[row], columns[column]] += 1
    right = matches.sum((1, 2))
    association = (matches * matches / (true_frames + track_frames - matches)).sum((1, 2)) / np.maximum(right, 1)
    detection = right / (true_frames.sum() + track_frames.sum() - right)
    return float(np.sqrt(detection * association).mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the program framewire")
    numbers = lambda text: [int(one) for one in text.split(",")]
    parser.add_argument("--seeds", type=numbers, default=[1, 2, 3])
    parser.add_argument("--objects", type=numbers, default=[3, 8])
    parser.add_argument("--noise", type=numbers, default=[4, 8])
    parser.add_argument("--frames", type=int, default=900)
    parser.add_argument("--background", default="mixture")
    parser.add_argument("--track", default="", help="parameters of --track")
    options = parser.parse_args()
    print("| objects | noise | balloon | recall | precision | identity changes | per match | MOTA | HOTA |")
    print("|---|---|---|---|---|---|---|---|---|")
    for objects in options.objects:
        for noise in options.noise:
            sums = {True: Counts(), False: Counts()}
            for seed in options.seeds:
                with tempfile.TemporaryDirectory() as folder:
                    truth, records = pathlib.Path(folder, "truth.jsonl"), pathlib.Path(folder, "tracks.jsonl")
                    source = f"synth:size=640x360:objects={objects}:noise={noise}:seed={seed}"
                    track = f"--track={options.track}" if options.track else "--track"
                    subprocess.run([options.program, "detect", "-i", f"{source}:frames={options.frames}:truth={truth}",
                                    "-o", str(records), "--background", options.background, track],
                                   check=True, stderr=subprocess.DEVNULL)
                    true, tracks = read_truth(truth), read_tracks(records)
                    for balloons, total in sums.items():
                        total.add(score(true, tracks, balloons))
            for balloons, total in sums.items():
                if balloons or objects >= 5:
                    print(f"| {objects} | {noise} | {'yes' if balloons else 'no'} | {total.row()} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
