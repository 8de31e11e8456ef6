"""Ten jobs with framewire. opencv_recipes.py does the same with OpenCV; docs/python-recipes.md compares them.

    python3 recipes.py privacy in.mp4 out.mp4
"""
import glob
import sys

import framewire
import numpy as np


def blur(src, dst):
    """Blurs a video, or a camera such as /dev/video0."""
    source, chain = framewire.Source(src), framewire.Chain("gaussian=9")
    with framewire.Sink(dst, rate=source.rate, replace=True) as sink:
        for frame in source:
            sink.write(chain(frame), source.time)


def privacy(src, dst):
    """Hides what moves under a mosaic."""
    source, chain = framewire.Source(src), framewire.Chain("boxes=pixelate=16")
    with framewire.Sink(dst, rate=source.rate, replace=True) as sink:
        for frame in source:
            sink.write(chain(frame), source.time)


def count(folder):
    """Returns how many different objects move in each video of a folder."""
    counts = {}
    for path in sorted(glob.glob(f"{folder}/*")):
        source, seen = framewire.Source(path), set()
        detector, tracker = framewire.Detector(rate=source.rate), framewire.Tracker(source.size)
        for frame in source:
            seen.update(track.id for track in tracker(detector(frame), source.time.seconds))
        counts[path] = len(seen)
    return counts


def first_motion(src):
    """Returns the second at which something starts to move, or None."""
    source = framewire.Source(src)
    detector = framewire.Detector("min-area=400", rate=source.rate)
    return next((source.time.seconds for frame in source if detector(frame)), None)


def paths(src):
    """Returns the centres of each moving object, frame by frame."""
    source, found = framewire.Source(src), {}
    detector, tracker = framewire.Detector(rate=source.rate), framewire.Tracker(source.size)
    for frame in source:
        for track in tracker(detector(frame), source.time.seconds):
            found.setdefault(track.id, []).append((track.x + track.width / 2, track.y + track.height / 2))
    return found


def features(images):
    """Returns the HOG features of images of one size, a row for each: for scikit-learn."""
    hog = framewire.Hog("descriptor=opencv")
    return np.array([hog(image).ravel() for image in images])


def document(src, dst):
    """Makes a photographed page black and white."""
    page = framewire.Source(src).read()
    with framewire.Sink(dst, replace=True) as sink:
        sink.write(framewire.Chain("binarize=sauvola")(page))


def heat(src):
    """Returns for each pixel the share of frames in which it moved."""
    source, sums, frames = framewire.Source(src), 0, 0
    detector = framewire.Detector(rate=source.rate)
    for frames, frame in enumerate(source, 1):
        detector(frame)
        sums = sums + (detector.mask() > 0)
    return sums / frames


def timelapse(src, dst, every=10):
    """Writes every tenth frame at half the size."""
    source, chain = framewire.Source(src), framewire.Chain("scale=50%")
    with framewire.Sink(dst, rate=source.rate, replace=True) as sink:
        for frame in source:
            if source.time.index % every == 0:
                sink.write(chain(frame))


def sheet(src, columns=4, rows=3):
    """Returns one picture of evenly spaced frames of a video, as a contact sheet."""
    source, chain, pictures = framewire.Source(src), framewire.Chain("scale=160:120"), []
    step = max(1, source.frames // (columns * rows)) if source.frames else 1
    for frame in source:
        if source.time.index % step == 0 and len(pictures) < columns * rows:
            pictures.append(chain(frame))
    return np.vstack([np.hstack(pictures[row * columns:(row + 1) * columns]) for row in range(rows)])


if __name__ == "__main__":
    print(globals()[sys.argv[1]](*sys.argv[2:]))
