"""The elements of the GStreamer plugin, in gst-launch-1.0 and in pipelines of this process."""
import json
import os
import re
import subprocess
import time
import unittest

from helpers import BUILD, FRAMES, PROGRAM, SECONDS, PluginTest, program, read

try:
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstVideo", "1.0")
    from gi.repository import Gst, GstVideo
    Gst.init(None)
except (ImportError, ValueError):
    Gst = None

ELEMENTS = ("framewirefilter", "framewiredetect", "framewiresrc", "framewiresink")
OBJECT = re.compile(r"x=\(int\)(\d+), y=\(int\)(\d+), width=\(int\)(\d+), height=\(int\)(\d+), area=\(int\)(\d+)"
                    r"(?:.*?, track=\(gint64\)(\d+))?")


def objects_of(text):
    """Returns (x, y, width, height, area, track) of each object in the text of a message."""
    parts = text.replace("\\", "").split("object, ")[1:]
    return [tuple(int(value) if value else 0 for value in OBJECT.search(part).groups()) for part in parts]


class GStreamerTest(PluginTest):
    @classmethod
    def setUpClass(cls):
        cls.needs("gst-launch-1.0", "gst-inspect-1.0")

    def launch(self, pipeline, *options):
        """Runs a pipeline to its end, and returns what was printed."""
        return self.run_in_folder("gst-launch-1.0", *options, *words(pipeline))

    def error_of(self, pipeline):
        """Returns the text of the first error of a pipeline, and that of all others. GStreamer 1.22's gst-launch-1.0 sometimes
        waits forever after an error of the first frame, also of other elements, so the pipeline runs here."""
        if not Gst:
            self.skipTest("there is no GStreamer for Python")
        parsed = Gst.parse_launch(pipeline)
        try:
            parsed.set_state(Gst.State.PLAYING)
            first = parsed.get_bus().timed_pop_filtered(20 * Gst.SECOND, Gst.MessageType.ERROR)
            self.assertIsNotNone(first)
            time.sleep(0.2)
        finally:
            parsed.set_state(Gst.State.NULL)
        others = []
        while (other := parsed.get_bus().pop_filtered(Gst.MessageType.ERROR)) is not None:
            others.append(other.parse_error()[0].message)
        return first.parse_error()[0].message, others

    def result(self, pipeline, name="out.bgr"):
        """Returns the bytes that a pipeline writes without printing anything."""
        self.assertEqual(self.launch(f"{pipeline} ! framewiresink location={name} replace=true", "-q"), "")
        return read(self.path(name.split(":")[0]))


def words(pipeline):
    """Splits at spaces outside of quotes, which stay."""
    return re.findall(r"(?:[^ \"]|\"(?:[^\"\\]|\\.)*\")+", pipeline)


class Elements(GStreamerTest):
    def test_exports_only_what_gstreamer_loads(self):
        names = self.run_in_folder("nm", "-D", "--defined-only", f"{BUILD}/gstreamer-1.0/libgstframewire.so").split()[2::3]
        self.assertEqual(sorted(names), ["gst_plugin_framewire_get_desc", "gst_plugin_framewire_register"])

    def test_installed_plugins_find_the_library(self):
        for component in ("c", "plugins"):
            self.run_in_folder("cmake", "--install", BUILD, "--component", component, "--prefix", self.path("prefix"))
        installed = sorted(os.path.join(folder, file).removeprefix(self.path("prefix/"))
                           for folder, _, files in os.walk(self.path("prefix")) for file in files if "libframewire.so" not in file)
        self.assertIn("lib/frei0r-1/framewire.so", installed)
        for path in installed:
            if path.endswith("framewire.so"):
                self.assertIn(f"libframewire.so.0 => {self.folder}", self.run_in_folder("ldd", self.path(f"prefix/{path}"))
                              .replace("/frei0r-1/..", "").replace("/gstreamer-1.0/..", ""))
        self.assertEqual(sum(path.endswith("gstreamer-1.0/libgstframewire.so") for path in installed), 1)

    def test_are_described(self):
        for element in ELEMENTS:
            printed = self.run_in_folder("gst-inspect-1.0", element)
            self.assertRegex(printed, r"Long-name +framewire ")
            self.assertNotRegex(printed, r"(?i)warning|critical|blacklist")

    def test_leave_nothing_behind(self):
        done = subprocess.run(["gst-launch-1.0", "-q", *words(
            f"framewiresrc uri={self.clip()} ! tee name=t ! queue ! framewiredetect track=\"\" draw=true ! fakesink "
            "t. ! queue ! framewirefilter chain=scale=300:200,gray ! framewiresink location=out.bgr")], cwd=self.folder,
            env={**os.environ, "GST_TRACERS": "leaks", "GST_DEBUG": "GST_TRACER:7", "GST_DEBUG_NO_COLOR": "1"},
            capture_output=True, text=True, timeout=SECONDS, check=True)
        self.assertIn("GST_TRACER", done.stderr)  # it ran
        self.assertEqual(re.findall("object-alive, .*", done.stderr.replace("object-alive.class", "")
                                    .replace("object-alive, type-name=(string)%s", "")), [])


class Filter(GStreamerTest):
    CHAINS = ("gaussian=5,mosaic=32", "gray", "scale=100:60", "rotate=90,boxes", "noise")

    def test_has_the_bytes_of_the_program(self):
        for size in ("320x240", "321x243", "7x5"):
            source = f"synth:size={size}:frames={FRAMES}"
            for chain in self.CHAINS if size != "7x5" else self.CHAINS[:3]:
                with self.subTest(size=size, chain=chain):
                    self.assert_same_bytes(self.result(f"framewiresrc uri={source} ! framewirefilter chain={chain}"),
                                           self.expected(source, chain))

    def test_order_of_channels_does_not_matter(self):
        # Pixels are converted four at a time, but the last ones of a row.
        for size, chain in (("161x121", "gaussian=5"), ("160x120", "gray=channels=1"), ("9x3", "mean=3"), ("10x3", "mean=3")):
            source = f"synth:size={size}:frames=2"
            gray = "channels=1" in chain
            want = self.expected(source, chain, "want.gray" if gray else "want.bgr")
            for pixels in ("RGB", "BGRx", "RGBx", "xRGB", "xBGR", "BGRA", "RGBA", "ARGB", "ABGR"):
                with self.subTest(size=size, chain=chain, pixels=pixels):
                    self.assert_same_bytes(self.result(
                        f"framewiresrc uri={source} ! videoconvert ! video/x-raw,format={pixels} ! framewirefilter chain={chain} ! "
                        f"videoconvert ! video/x-raw,format={'GRAY8' if gray else 'BGR'}", "out.gray" if gray else "out.bgr"), want)

    def test_planes_have_the_bytes_of_the_program(self):
        program("run", "-i", self.clip(), "-o", self.path("in.y4m:pixels=yuv420p:range=limited"))
        for chain in ("gaussian=5,mosaic=32", "median=5", "scale=300:200", "crop=201:151:3:5", "gray", "text=text={frame}"):
            with self.subTest(chain):
                program("run", "-i", self.path("in.y4m"), "-f", chain, "-o", self.path("want.y4m"), "-y")
                got = self.result(f"framewiresrc uri=in.y4m ! framewirefilter chain={chain}",
                                  "out.y4m:pixels=yuv420p:range=limited")
                self.assert_same_bytes(got, read(self.path("want.y4m")))

    def test_alpha_stays(self):
        self.launch("videotestsrc num-buffers=2 ! video/x-raw,format=RGBA,width=320,height=240 ! alpha method=green ! "
                    "videoconvert ! video/x-raw,format=RGBA ! tee name=t ! queue ! filesink location=in.rgba "
                    "t. ! queue ! framewirefilter chain=mosaic=32 ! filesink location=out.rgba")
        before, after = read(self.path("in.rgba")), read(self.path("out.rgba"))
        self.assertGreater(len(set(before[3::4])), 1)
        self.assert_same_bytes(after[3::4], before[3::4])
        self.assertNotEqual(before, after)

    def test_formats_are_negotiated(self):
        def formats(chain, before, after):
            """Returns what the filter gets and makes."""
            printed = self.launch(f"videotestsrc num-buffers=2 ! {before}framewirefilter name=f chain={chain} ! "
                                  f"{after}fakesink", "-v")
            found = {}
            for pad, pixels, width, height in re.findall(
                    r"GstPad:(sink|src): caps = video/x-raw, format=\(string\)(\w+), width=\(int\)(\d+), height=\(int\)(\d+)",
                    "\n".join(line for line in printed.split("\n") if "Filter:f." in line)):
                found[pad] = f"{pixels} {width}x{height}"
            return found.get("sink"), found.get("src")

        raw = "video/x-raw,format="
        for pixels in ("GRAY8", "BGR", "RGBA", "I420"):  # what comes after the filter decides
            self.assertEqual(formats("gaussian=3", "", f"{raw}{pixels} ! "), (f"{pixels} 320x240", f"{pixels} 320x240"))
        for pixels in ("NV12", "I420_10LE", "P010_10LE", "I422_10LE", "Y444_10LE"):
            self.assertEqual(formats("gaussian=3", f"{raw}{pixels} ! ", ""), (f"{pixels} 320x240", "BGR 320x240"))
        self.assertEqual(formats("scale=200:100", "", f"{raw}I420 ! "), ("I420 320x240", "I420 200x100"))
        self.assertEqual(formats("median=5", f"{raw}I420 ! ", ""), ("I420 320x240", "BGR 320x240"))
        self.assertEqual(formats("gray=channels=1", f"{raw}RGB ! ", ""), ("RGB 320x240", "GRAY8 320x240"))
        self.assertEqual(formats("median=5", f"{raw}RGB ! ", ""), ("RGB 320x240", "RGB 320x240"))
        self.assertEqual(formats("rotate=90", f"{raw}BGRx ! ", ""), ("BGRx 320x240", "BGRx 240x320"))
        self.assertEqual(formats("mean=3", "", f"{raw}GRAY8,width=100,height=50 ! ")[0], "GRAY8 100x50")
        self.assertEqual(formats("crop=1300:9:0:0,scale=20:10", f"{raw}I420,width=1400 ! ", "")[1], "I420 20x10")
        self.assertIn("could not link", self.fails_in_folder("gst-launch-1.0", *words(
            f"videotestsrc ! {raw}I420 ! framewirefilter chain=median=5 ! {raw}I420 ! fakesink")))

    def test_errors_have_a_caret(self):
        for chain, problem in (("gausian=5", "did you mean 'gaussian'?\n  gausian=5\n  ^"),
                               ("gaussian=5,crop=400:9:0:0", "\n  gaussian=5,crop=400:9:0:0\n             ^"),
                               ("fps=10", "fps=10 changes the number of frames")):
            with self.subTest(chain):
                first, others = self.error_of(f"videotestsrc num-buffers=1 ! framewirefilter chain={chain} ! fakesink")
                self.assertIn(problem, first)
                self.assertNotIn(first, others)  # it is posted once
        interlaced = "videotestsrc num-buffers=1 ! video/x-raw,interlace-mode=interleaved ! framewirefilter chain=gray ! fakesink"
        self.assertIn("put the element deinterlace before this one", self.error_of(interlaced)[0])
        printed = self.fails_in_folder("gst-launch-1.0", "videotestsrc", "!", "framewirefilter", "chain=gausian=5", "!", "fakesink")
        self.assertIn("did you mean 'gaussian'?\n  gausian=5\n  ^\n", printed)

    def test_size_changes_between_frames(self):
        chain = "gaussian=5,mosaic=32"
        self.launch(f"concat name=c ! framewirefilter chain={chain} ! filesink location=out.bgr "
                    "framewiresrc uri=synth:size=64x48:frames=3 ! c. framewiresrc uri=synth:size=32x20:frames=2 ! c. "
                    "framewiresrc uri=synth:size=64x48:frames=1 ! c.")
        self.assert_same_bytes(read(self.path("out.bgr")), b"".join(
            self.expected(f"synth:size={size}:frames={frames}", chain) for size, frames in
            (("64x48", 3), ("32x20", 2), ("64x48", 1))))

    def test_many_run_at_once(self):
        self.launch("framewiresrc uri=synth:size=160x120:frames=20 ! tee name=t " + " ".join(
            f"t. ! queue ! framewirefilter chain=median={size} ! framewiresink location={size}.bgr" for size in (3, 5, 7, 9)))
        for size in (3, 5, 7, 9):
            self.assert_same_bytes(read(self.path(f"{size}.bgr")),
                                   self.expected("synth:size=160x120:frames=20", f"median={size}"))


class Detect(GStreamerTest):
    def messages(self, pipeline):
        """Returns the objects of each frame that has some."""
        printed = self.launch(f"{pipeline} ! fakesink", "-m")
        return {int(frame): objects_of(rest) for frame, rest in
                re.findall(r"framewiredetect, frame=\(gint64\)(\d+)(.*)", printed)}

    def records(self, source, *options):
        """Returns the objects that the program finds, by frame."""
        program("detect", "-i", source, "-o", self.path("want.jsonl"), "-y", *options)
        with open(self.path("want.jsonl"), encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
        return {record["frame"]: [(*one["box"], one["area"]) for one in record["objects"]] for record in records
                if record["objects"]}, records

    def test_finds_what_the_program_finds(self):
        want, _ = self.records(self.clip(frames=40), "--min-area", "200")
        self.assertGreater(sum(map(len, want.values())), 40)
        for pixels in ("BGR", "RGB", "xRGB"):
            got = self.messages(f"framewiresrc uri={self.clip()} native=false ! videoconvert ! video/x-raw,format={pixels} ! "
                                "framewiredetect settings=min-area=200")
            self.assertEqual({frame: [one[:5] for one in objects] for frame, objects in got.items()}, want)

    def test_uses_the_brightness_of_planes(self):
        program("run", "-i", self.clip(frames=40), "-f", "gray=channels=1", "-o", self.path("in.gray"))
        source = "raw:in.gray:size=768x576:fps=10"
        want, _ = self.records(source.replace("in.gray", self.path("in.gray")))
        gray = self.messages(f"framewiresrc uri={source} ! video/x-raw,format=GRAY8 ! framewiredetect")
        self.assertEqual({frame: [one[:5] for one in objects] for frame, objects in gray.items()}, want)
        for pixels in ("I420", "NV12", "Y42B", "Y444"):  # with full range, their first plane is the gray image
            got = self.messages(f"framewiresrc uri={source} ! videoconvert ! "
                                f"video/x-raw,format={pixels},colorimetry=1:4:0:0 ! framewiredetect")
            self.assertEqual(got, gray)

    def test_tracks_like_the_program(self):
        _, records = self.records(self.clip(frames=40), "--track", "confirm=0.25")
        # Not a multiple of the time between frames: GStreamer rounds times to nanoseconds.
        got = self.messages(f"framewiresrc uri={self.clip()} native=false ! framewiredetect track=confirm=0.25")
        want = {record["frame"]: [(*one["box"], one["area"], one.get("track", 0)) for one in record["objects"]]
                for record in records if record["objects"]}
        self.assertGreater(len({one[5] for objects in want.values() for one in objects}), 3)
        self.assertEqual(got, want)

    def test_draws_only_if_asked(self):
        size = "synth:size=320x240:frames=20"
        plain = self.expected(size, "")
        self.assert_same_bytes(self.result(f"framewiresrc uri={size} ! framewiredetect"), plain)
        # Drawing must not reach others who have the same frame.
        drawn = self.result(f"framewiresrc uri={size} ! tee name=t ! queue ! framewiresink location=beside.bgr "
                            "t. ! queue ! framewiredetect draw=true")
        self.assert_same_bytes(read(self.path("beside.bgr")), plain)
        want, _ = self.records(size)
        frame = 320 * 240 * 3
        for index in range(20):
            image = bytearray(plain[index * frame:(index + 1) * frame])
            for x, y, width, height, _ in want.get(index, []):
                for row in range(y, y + height):
                    for column in range(x, x + width):
                        if min(row - y, y + height - 1 - row, column - x, x + width - 1 - column) < 2:
                            image[3 * (320 * row + column):3 * (320 * row + column) + 3] = b"\x00\xff\x00"
            self.assert_same_bytes(drawn[index * frame:(index + 1) * frame], bytes(image))

    def test_errors_are_clear(self):
        self.assertIn("did you mean 'threshold'?", self.error_of("videotestsrc ! framewiredetect settings=treshold=3 ! fakesink")[0])
        self.assertIn("confirm", self.error_of("videotestsrc ! framewiredetect track=confrm=3 ! fakesink")[0])


class SourceAndSink(GStreamerTest):
    def test_files_make_the_round_trip(self):
        program("run", "-i", self.clip(), "-o", self.path("in.bgr"))
        for name in ("out.mkv", "out.fwd:threshold=0", "out.bgr", "out%03d.png"):
            with self.subTest(name):
                self.launch(f"framewiresrc uri={self.clip()} native=false ! framewiresink location={name}", "-q")
                path = self.path(name.split(":")[0])
                if name.endswith(".bgr"):
                    path = f"raw:{path}:size=768x576:fps=10"
                self.assert_same_bytes(self.expected(path, "", "back.bgr"), read(self.path("in.bgr")))

    def test_times_stay(self):
        self.launch(f"framewiresrc uri={self.clip()} ! framewirefilter chain=gray ! framewiresink location=out.mkv")
        times = [[json.loads(subprocess.run(["ffprobe", "-v", "error", "-show_entries", "packet=pts_time", "-of", "json",
                                             path], capture_output=True, check=True).stdout)]
                 for path in (self.clip(), self.path("out.mkv"))]
        self.assertEqual(times[0], times[1])
        self.assertEqual(len(times[0][0]["packets"]), 20)

    def test_errors_are_clear(self):
        self.assertIn("nothing.mp4: no such file", self.error_of("framewiresrc uri=nothing.mp4 ! fakesink")[0])
        self.assertIn("the property uri is empty", self.error_of("framewiresrc ! fakesink")[0])
        self.assertIn("the property location is empty", self.error_of("videotestsrc ! framewiresink")[0])
        self.assertIn("out.xyz: the file extension", self.error_of("videotestsrc ! framewiresink location=out.xyz")[0])
        program("run", "-i", "synth:size=64x48:frames=1", "-o", self.path("here.bgr"))
        before = read(self.path("here.bgr"))
        self.assertIn("already exists", self.error_of("videotestsrc ! framewiresink location=" +
                                                      self.path("here.bgr"))[0])
        self.assert_same_bytes(read(self.path("here.bgr")), before)

    def test_difference_streams_are_read(self):
        source = "synth:size=160x120:frames=10"
        with subprocess.Popen([PROGRAM, "serve", "-i", source, "--wait", "1", "--listen", "127.0.0.1:0", "--threshold", "0",
                               "--log-level", "info"], stderr=subprocess.PIPE, text=True, cwd=self.folder) as server:
            try:
                url = None
                for line in server.stderr:
                    if url := re.search(r"tcp://127.0.0.1:\d+/main", line):
                        break
                got = self.result(f"framewiresrc uri={url.group()} ! framewirefilter")
            finally:
                server.kill()
        self.assert_same_bytes(got[-160 * 120 * 3:], self.expected(source, "")[-160 * 120 * 3:])


@unittest.skipUnless(Gst, "there is no GStreamer for Python")
class Pipelines(GStreamerTest):
    """Pipelines of this process, whose frames and messages the tests see."""

    def parse(self, description):
        pipeline = Gst.parse_launch(description)
        self.addCleanup(pipeline.set_state, Gst.State.NULL)
        return pipeline

    def pull(self, pipeline):
        """Returns the next sample of the element `out`, an appsink, or None at the end."""
        return pipeline.get_by_name("out").emit("try-pull-sample", 20 * Gst.SECOND)

    def message(self, pipeline, kind):
        """Returns a message that the pipeline has posted."""
        found = pipeline.get_bus().timed_pop_filtered(20 * Gst.SECOND, kind)
        self.assertIsNotNone(found)
        return found

    @staticmethod
    def bytes_of(sample):
        buffer = sample.get_buffer()
        return buffer.extract_dup(0, buffer.get_size())

    APPSINK = "appsink name=out sync=false max-buffers=1"

    def test_chain_changes_between_frames(self):
        source = "synth:size=320x240:frames=200"
        pipeline = self.parse(f"framewiresrc uri={source} ! framewirefilter name=f chain=gaussian=5 ! {self.APPSINK}")
        pipeline.set_state(Gst.State.PLAYING)
        fw = pipeline.get_by_name("f")
        shapes = []
        frames = []
        for index in range(40):
            sample = self.pull(pipeline)
            structure = sample.get_caps().get_structure(0)
            shapes.append((structure.get_string("format"), structure.get_int("width")[1]))
            frames.append(self.bytes_of(sample))
            for when, chain in ((5, "mosaic=32"), (10, "scale=160:120"), (15, ""), (20, "gray=channels=1"), (25, "gaussian=9")):
                if index == when:
                    fw.set_property("chain", chain)
                    self.assertEqual(fw.get_property("chain"), chain)
        self.assertEqual(list(dict.fromkeys(shapes)), [("BGR", 320), ("BGR", 160), ("GRAY8", 320)])
        # Every frame is that of the chain of its time; the appsink and the thread before it hold a few older ones.
        wants = [self.expected("synth:size=320x240:frames=40", chain) for chain in
                 ("gaussian=5", "mosaic=32", "scale=160:120", "", "gray", "gaussian=9")]
        program("run", "-i", "synth:size=320x240:frames=40", "-f", "gray=channels=1", "-o", self.path("want.gray"))
        wants[4] = read(self.path("want.gray"))
        stage = 0
        for index, frame in enumerate(frames):
            while frame != wants[stage][index * len(frame):(index + 1) * len(frame)] and stage < 5:
                stage += 1
            self.assert_same_bytes(frame, wants[stage][index * len(frame):(index + 1) * len(frame)])
        self.assertEqual(stage, 5)

    def test_wrong_change_is_a_warning(self):
        pipeline = self.parse(f"framewiresrc uri=synth:size=64x48:frames=50 ! framewirefilter name=f chain=mosaic=8 ! "
                              f"framewiredetect name=d settings=min-area=50 ! {self.APPSINK}")
        pipeline.set_state(Gst.State.PLAYING)
        want = self.expected("synth:size=64x48:frames=50", "mosaic=8")
        for element, name, wrong, problem, stays in (("f", "chain", "mosaik=8", "mosaik=8\n  ^", "mosaic=8"),
                                                     ("f", "chain", "crop=100:100:0:0", "not inside the 64x48", "mosaic=8"),
                                                     ("d", "settings", "max=3", "no parameter 'max'", "min-area=50")):
            self.pull(pipeline)
            pipeline.get_by_name(element).set_property(name, wrong)
            error, _ = self.message(pipeline, Gst.MessageType.WARNING).parse_warning()
            self.assertIn(problem, error.message)
            self.assertEqual(pipeline.get_by_name(element).get_property(name), stays)
        last = None
        while sample := self.pull(pipeline):
            last = self.bytes_of(sample)
        self.assert_same_bytes(last, want[-len(last):])

    def test_times_and_regions_are_on_buffers(self):
        pipeline = self.parse(f"framewiresrc uri={self.clip()} native=false ! framewirefilter chain=gaussian=3 ! "
                              f"framewiredetect track=confirm=0.1 ! {self.APPSINK}")
        pipeline.set_state(Gst.State.PLAYING)
        regions = {}
        for index in range(20):
            buffer = self.pull(pipeline).get_buffer()
            self.assertEqual(buffer.pts, index * Gst.SECOND // 10)
            self.assertEqual(buffer.duration, Gst.SECOND // 10)
            meta = GstVideo.buffer_get_video_region_of_interest_meta_id
            for identity in range(100):
                if found := meta(buffer, identity):
                    regions.setdefault(index, []).append((found.x, found.y, found.w, found.h, found.id))
        self.assertIsNone(self.pull(pipeline))  # the end
        messages = {}
        while (message := pipeline.get_bus().pop_filtered(Gst.MessageType.ELEMENT)) is not None:
            text = message.get_structure().to_string()
            messages[message.get_structure().get_int64("frame")[1]] = objects_of(text)
        self.assertGreater(len(messages), 5)
        self.assertTrue(set(regions) <= set(messages))
        for index, found in regions.items():
            for region in found:
                self.assertIn(region, [(*one[:4], one[5]) for one in messages[index]])

    def test_seeks_exactly(self):
        program("run", "-i", self.clip(), "-o", self.path("clip.bgr"))
        source = f"raw:{self.path('clip.bgr')}:size=768x576:fps=10"
        pipeline = self.parse(f"framewiresrc uri={source} ! framewirefilter chain=noise ! {self.APPSINK}")
        pipeline.set_state(Gst.State.PLAYING)
        pipeline.get_state(20 * Gst.SECOND)
        self.assertEqual(pipeline.get_by_name("out").query_duration(Gst.Format.TIME), (True, 2 * Gst.SECOND))
        for target in (1.2, 0.5, 0.0):
            for _ in range(3):
                self.pull(pipeline)
            self.assertTrue(pipeline.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH | Gst.SeekFlags.ACCURATE,
                                                 round(target * Gst.SECOND)))
            # `noise` compares with the frame before, of which a chain must know nothing after a seek.
            program("run", "-i", source, "--start", str(target), "--duration", "0.3", "-f", "noise", "-o",
                    self.path("want.bgr"), "-y")
            want = read(self.path("want.bgr"))
            for index in range(3):
                sample = self.pull(pipeline)
                self.assertEqual(sample.get_buffer().pts, round(target * Gst.SECOND) + index * Gst.SECOND // 10)
                got = self.bytes_of(sample)
                self.assert_same_bytes(got, want[index * len(got):(index + 1) * len(got)])

    def test_live_source_stops_at_once(self):
        with subprocess.Popen([PROGRAM, "serve", "-i", "synth:size=64x48", "--listen", "127.0.0.1:0", "--log-level", "info"],
                              stderr=subprocess.PIPE, text=True, cwd=self.folder) as server:
            try:
                for line in server.stderr:
                    if url := re.search(r"tcp://127.0.0.1:\d+/main", line):
                        break
                pipeline = self.parse(f"framewiresrc uri={url.group()} ! {self.APPSINK}")
                self.assertEqual(pipeline.set_state(Gst.State.PAUSED), Gst.StateChangeReturn.NO_PREROLL)
                pipeline.set_state(Gst.State.PLAYING)
                times = [self.pull(pipeline).get_buffer().pts for _ in range(5)]
                self.assertEqual(times, sorted(times))
                pipeline.set_state(Gst.State.PAUSED)  # disconnects
                pipeline.set_state(Gst.State.PLAYING)
                while self.pull(pipeline).get_buffer().pts <= times[-1]:
                    pass
                os.kill(server.pid, 19)  # SIGSTOP: no more frames
                time.sleep(0.3)
                began = time.monotonic()
                pipeline.set_state(Gst.State.NULL)
                self.assertLess(time.monotonic() - began, 2)
            finally:
                server.kill()

    def test_sink_without_an_end_leaves_no_file(self):
        pipeline = self.parse(f"videotestsrc ! framewiresink name=s location={self.path('out.mkv')}")
        pipeline.set_state(Gst.State.PLAYING)
        time.sleep(0.3)
        pipeline.set_state(Gst.State.NULL)
        self.assertFalse(os.path.exists(self.path("out.mkv")))


class Gpu(GStreamerTest):
    def setUp(self):
        super().setUp()
        devices = subprocess.run([PROGRAM, "devices"], capture_output=True, text=True, check=True).stdout
        if "GPUs: none" in devices:
            self.skipTest("no GPU on this machine: " + devices.split("\n", maxsplit=1)[0])

    def test_has_the_bytes_of_the_cpu(self):
        source = f"synth:size=321x243:frames={FRAMES}"
        for chain in Filter.CHAINS:
            with self.subTest(chain):
                self.assert_same_bytes(
                    self.result(f"framewiresrc uri={source} ! framewirefilter backend=cuda chain={chain}"),
                    self.expected(source, chain))
