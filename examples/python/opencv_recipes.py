"""The jobs of recipes.py with OpenCV."""
import glob

import cv2
import numpy as np


def frames_of(src):
    """Yields the frames of a video."""
    capture = cv2.VideoCapture(src)
    while True:
        ok, frame = capture.read()
        if not ok:
            return
        yield frame


def writer_for(dst, src, size):
    """Returns a writer of a video with the rate of another one."""
    return cv2.VideoWriter(dst, cv2.VideoWriter_fourcc(*"avc1"), cv2.VideoCapture(src).get(cv2.CAP_PROP_FPS), size)


class Motion:
    """Finds what moves: the background model, the cleaning of its mask, and the boxes of its parts."""

    def __init__(self, min_area=100):
        self.model = cv2.createBackgroundSubtractorMOG2(detectShadows=False)
        self.min_area = min_area

    def __call__(self, frame):
        self.mask = cv2.medianBlur(self.model.apply(frame), 9)
        _, _, stats, centroids = cv2.connectedComponentsWithStats(self.mask)
        return [(tuple(int(value) for value in part[:4]), tuple(centre))
                for part, centre in zip(stats[1:], centroids[1:]) if part[cv2.CC_STAT_AREA] >= self.min_area]


class Tracks:
    """Gives each box the number of the nearest one in the frame before."""

    def __init__(self, reach=50):
        self.last, self.next_id, self.reach = {}, 1, reach

    def __call__(self, boxes):
        now = {}
        for _, (x, y) in boxes:
            near = min(self.last, key=lambda id: (self.last[id][0] - x) ** 2 + (self.last[id][1] - y) ** 2, default=None)
            if near is not None and np.hypot(self.last[near][0] - x, self.last[near][1] - y) < self.reach:
                now[near] = (x, y)
                del self.last[near]
            else:
                now[self.next_id] = (x, y)
                self.next_id += 1
        self.last = dict(now)
        return now


def blur(src, dst):
    """Blurs a video, or a camera such as /dev/video0."""
    writer = None
    for frame in frames_of(src):
        writer = writer or writer_for(dst, src, (frame.shape[1], frame.shape[0]))
        writer.write(cv2.GaussianBlur(frame, (9, 9), 0))
    writer.release()


def privacy(src, dst):
    """Hides what moves under a mosaic."""
    writer, motion = None, Motion()
    for frame in frames_of(src):
        writer = writer or writer_for(dst, src, (frame.shape[1], frame.shape[0]))
        for (x, y, width, height), _ in motion(frame):
            part = frame[y:y + height, x:x + width]
            small = cv2.resize(part, (max(1, width // 16), max(1, height // 16)), interpolation=cv2.INTER_AREA)
            part[:] = cv2.resize(small, (width, height), interpolation=cv2.INTER_NEAREST)
        writer.write(frame)
    writer.release()


def count(folder):
    """Returns how many different objects move in each video of a folder."""
    counts = {}
    for path in sorted(glob.glob(f"{folder}/*")):
        motion, tracks = Motion(), Tracks()
        for frame in frames_of(path):
            tracks(motion(frame))
        counts[path] = tracks.next_id - 1
    return counts


def first_motion(src):
    """Returns the second at which something starts to move, or None."""
    capture, motion, number = cv2.VideoCapture(src), Motion(min_area=400), 0
    while True:
        ok, frame = capture.read()
        if not ok:
            return None
        if motion(frame) and number > 0:  # the first frame is all foreground
            return number / capture.get(cv2.CAP_PROP_FPS)
        number += 1


def paths(src):
    """Returns the centres of each moving object, frame by frame."""
    motion, tracks, found = Motion(), Tracks(), {}
    for frame in frames_of(src):
        for number, centre in tracks(motion(frame)).items():
            found.setdefault(number, []).append(centre)
    return found


def features(images):
    """Returns the HOG features of images of one size, a row for each: for scikit-learn."""
    height, width = images[0].shape[0] // 8 * 8, images[0].shape[1] // 8 * 8
    hog = cv2.HOGDescriptor((width, height), (16, 16), (8, 8), (8, 8), 9)
    return np.array([hog.compute(np.ascontiguousarray(image[:height, :width])).ravel() for image in images])


def document(src, dst):
    """Makes a photographed page black and white."""
    page = cv2.cvtColor(cv2.imread(src), cv2.COLOR_BGR2GRAY).astype(float)  # Sauvola is in opencv-contrib only
    mean = cv2.boxFilter(page, -1, (25, 25))
    deviation = np.sqrt(np.maximum(cv2.boxFilter(page * page, -1, (25, 25)) - mean * mean, 0))
    cv2.imwrite(dst, np.where(page > mean * (1 + 0.2 * (deviation / 128 - 1)), 255, 0).astype(np.uint8))


def heat(src):
    """Returns for each pixel the share of frames in which it moved."""
    motion, sums, frames = Motion(), 0, 0
    for frames, frame in enumerate(frames_of(src), 1):
        motion(frame)
        sums = sums + (motion.mask > 0)
    return sums / frames


def timelapse(src, dst, every=10):
    """Writes every tenth frame at half the size."""
    writer = None
    for number, frame in enumerate(frames_of(src)):
        if number % every == 0:
            small = cv2.resize(frame, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
            writer = writer or writer_for(dst, src, (small.shape[1], small.shape[0]))
            writer.write(small)
    writer.release()


def sheet(src, columns=4, rows=3):
    """Returns one picture of evenly spaced frames of a video, as a contact sheet."""
    step = max(1, int(cv2.VideoCapture(src).get(cv2.CAP_PROP_FRAME_COUNT)) // (columns * rows))
    pictures = []
    for number, frame in enumerate(frames_of(src)):
        if number % step == 0 and len(pictures) < columns * rows:
            pictures.append(cv2.resize(frame, (160, 120), interpolation=cv2.INTER_AREA))
    return np.vstack([np.hstack(pictures[row * columns:(row + 1) * columns]) for row in range(rows)])
