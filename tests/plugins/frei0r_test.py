"""The frei0r plugin in FFmpeg and in melt."""
import subprocess

from helpers import BUILD, FRAMES, PluginTest, program, read

CHAINS = ("gaussian=5,mosaic=32", "median=5", "gray=average", "noise", "boxes", "scale=50%:50%,scale=320:240:bilinear", "")


# Between quotes of a graph of filters, what FFmpeg reads as a character of a parameter of frei0r (docs/plugins.md).
IN_QUOTES = str.maketrans({"\\": r"\\\\", ":": r"\:", "|": r"\\|", "'": r"\\\'\''"})


def in_option(chain):
    """Quotes a chain for FFmpeg."""
    return f"filter_params='{chain.translate(IN_QUOTES)}'"


class Frei0r(PluginTest):
    def test_exports_only_the_functions_of_frei0r(self):
        names = self.run_in_folder("nm", "-D", "--defined-only", f"{BUILD}/frei0r-1/framewire.so").split()[2::3]
        self.assertEqual(sorted(names), sorted(f"f0r_{name}" for name in (
            "construct", "deinit", "destruct", "get_param_info", "get_param_value", "get_plugin_info", "init",
            "set_param_value", "update", "update2")))


class Ffmpeg(PluginTest):
    @classmethod
    def setUpClass(cls):
        cls.needs("ffmpeg")

    def filter(self, size, graph, source="in.bgr"):
        """Filters raw BGR with FFmpeg and returns the bytes and what was printed."""
        printed = self.run_in_folder("ffmpeg", "-hide_banner", "-loglevel", "error", "-y", "-f", "rawvideo", "-pixel_format",
                                     "bgr24", "-framerate", "30", "-video_size", size, "-i", source, "-vf", graph, "-f",
                                     "rawvideo", "-pix_fmt", "bgr24", "out.bgr")
        return read(self.path("out.bgr")), printed

    def source(self, size, frames=FRAMES):
        """Writes raw BGR of the synthetic camera and returns it as a source of the program."""
        program("run", "-i", f"synth:size={size}:frames={frames}", "-o", self.path("in.bgr"), "-y")
        return f"raw:{self.path('in.bgr')}:size={size}:fps=30"

    def test_has_the_bytes_of_the_program(self):
        for size in ("320x240", "16x16", "1920x31"):
            source = self.source(size)
            for chain in CHAINS if size == "320x240" else CHAINS[:3]:
                with self.subTest(size=size, chain=chain):
                    got, printed = self.filter(size, f"frei0r=filter_name=framewire:{in_option(chain)}")
                    self.assertEqual(printed, "")
                    self.assert_same_bytes(got, self.expected(source, chain))

    def test_quotes_reach_the_chain(self):
        source = self.source("320x240")
        chain = r"text=text='{frame}, 10:30|[a]\nit'\''s':x=8:size=20"
        got, printed = self.filter("320x240", f"frei0r=filter_name=framewire:{in_option(chain)}")
        self.assertEqual(printed, "")
        self.assert_same_bytes(got, self.expected(source, chain))

    def test_real_video_has_the_bytes_of_the_program(self):
        program("run", "-i", self.clip(), "-o", self.path("in.bgr"))
        want = self.expected(f"raw:{self.path('in.bgr')}:size=768x576", "gaussian=9,boxes=pixelate=16")
        got, _ = self.filter("768x576", "frei0r=framewire:filter_params='gaussian=9,boxes=pixelate=16'")
        self.assert_same_bytes(got, want)

    def test_two_filters_are_one_chain(self):
        source = self.source("320x240")
        got, _ = self.filter("320x240", "frei0r=framewire:filter_params=gaussian=5,frei0r=framewire:filter_params=mosaic=32")
        self.assert_same_bytes(got, self.expected(source, "gaussian=5,mosaic=32"))

    def test_many_instances_run_at_once(self):
        source = self.source("320x240")
        graph = "split=4[a][b][c][d];" + ";".join(
            f"[{name}]frei0r=framewire:filter_params=median={size}[{name}2]" for name, size in zip("abcd", (3, 5, 7, 9)))
        got, _ = self.filter("320x240", f"{graph};[a2][b2][c2][d2]vstack=4")
        want = [self.expected(source, f"median={size}") for size in (3, 5, 7, 9)]
        frame = 320 * 240 * 3
        self.assert_same_bytes(got, b"".join(one[i * frame:(i + 1) * frame] for i in range(FRAMES) for one in want))

    def test_keeps_alpha(self):
        self.run_in_folder("ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc2=size=320x240", "-frames:v",
                           "2", "-vf", "format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='mod(X+Y,256)'", "-pix_fmt",
                           "rgba", "-f", "rawvideo", "in.rgba")
        self.run_in_folder("ffmpeg", "-loglevel", "error", "-f", "rawvideo", "-pixel_format", "rgba", "-video_size", "320x240",
                           "-i", "in.rgba", "-vf", "frei0r=framewire:filter_params=gaussian=5", "-pix_fmt", "rgba", "-f",
                           "rawvideo", "out.rgba")
        before, after = read(self.path("in.rgba")), read(self.path("out.rgba"))
        self.assertEqual(len(set(before[3::4])), 256)
        self.assert_same_bytes(after[3::4], before[3::4])
        self.assertNotEqual(before, after)

    def test_parameter_changes_between_frames(self):
        source = self.source("320x240", frames=10)
        got, printed = self.filter("320x240", "sendcmd=c='0.15 frei0r filter_params mosaic=32',"
                                              "frei0r=framewire:filter_params=gaussian=5")
        self.assertEqual(printed, "")
        half = 5 * 320 * 240 * 3
        self.assert_same_bytes(got[:half], self.expected(source, "gaussian=5")[:half])
        self.assert_same_bytes(got[half:], self.expected(source, "mosaic=32")[half:])

    def test_errors_are_printed_and_drawn(self):
        source = self.source("640x368", frames=2)
        for chain, problem in (("gausian=5,mosaic=32", "did you mean 'gaussian'?\n  gausian=5,mosaic=32\n  ^\n"),
                               ("gaussian=5,crop=700:9:0:0", "  gaussian=5,crop=700:9:0:0\n             ^\n"),
                               ("fps=10", "fps=10 changes the number of frames"),
                               ("scale=100:50", "makes 100x50 of pictures of 640x368")):
            with self.subTest(chain):
                got, printed = self.filter("640x368", f"frei0r=framewire:{in_option(chain)}")
                self.assertIn(problem, printed)
                self.assertEqual(printed.count("framewire: "), 1)  # not for each frame
                self.assertEqual(len(got), 2 * 640 * 368 * 3)
                self.assertEqual(got[0::3], got[1::3])  # black and white
                bright = sum(value > 128 for value in got[0::3])
                self.assertTrue(500 < bright < 60000, bright)
                self.assertGreater(got.count(0), len(got) // 2)
        self.assertNotEqual(self.expected(source, "")[:100], got[:100])


class Melt(PluginTest):
    @classmethod
    def setUpClass(cls):
        cls.needs("melt")

    def filter(self, size, *filters, source="in.mkv"):
        width, height = size.split("x")
        command = ("melt", "-silent", "-profile", "atsc_720p_30", source, *filters, "-consumer", "avformat:out.bgr", "f=rawvideo",
                   "vcodec=rawvideo", "pix_fmt=bgr24", "real_time=-1", "an=1", "frame_rate_num=30", "frame_rate_den=1",
                   f"width={width}", f"height={height}", "mlt_image_format=rgb")
        for _ in range(5):  # on a busy machine, melt 7.12 sometimes ends or hangs without a frame, with any filter
            try:
                printed = self.run_in_folder(*command, seconds=20)
            except subprocess.TimeoutExpired:
                continue
            if got := read(self.path("out.bgr")):
                return got, printed
        self.fail("melt wrote no frame five times")

    def test_lists_the_parameter(self):
        printed = self.run_in_folder("melt", "-query", "filter=frei0r.framewire")
        self.assertIn("title: framewire", printed)
        self.assertIn("title: chain", printed)

    def test_has_the_bytes_of_the_program(self):
        for size in ("320x240", "321x243", "70x50"):
            program("run", "-i", f"synth:size={size}:frames={FRAMES}", "-o", self.path("in.mkv"), "-y")
            for chain in CHAINS[:5]:
                with self.subTest(size=size, chain=chain):
                    got, printed = self.filter(size, "-filter", "frei0r.framewire", f"chain=0={chain}")
                    self.assertNotIn("framewire:", printed)
                    self.assert_same_bytes(got, self.expected(self.path("in.mkv"), chain))

    def test_keyframes_change_the_chain(self):
        program("run", "-i", f"synth:size=320x240:frames={FRAMES}", "-o", self.path("in.mkv"))
        got, _ = self.filter("320x240", "-filter", "frei0r.framewire", "chain=0=gaussian=5;3=mosaic=32")
        half = 3 * 320 * 240 * 3
        self.assert_same_bytes(got[:half], self.expected(self.path("in.mkv"), "gaussian=5")[:half])
        self.assert_same_bytes(got[half:], self.expected(self.path("in.mkv"), "mosaic=32")[half:])

    def test_projects_have_the_chain(self):
        program("run", "-i", f"synth:size=320x240:frames={FRAMES}", "-o", self.path("clip.mkv"))
        with open(self.path("in.mlt"), "w", encoding="utf-8") as file:
            file.write("""<mlt><producer id="clip"><property name="resource">clip.mkv</property><filter>
                <property name="mlt_service">frei0r.framewire</property>
                <property name="chain">0=gaussian=5,mosaic=32</property></filter></producer></mlt>""")
        got, _ = self.filter("320x240", source="in.mlt")
        self.assert_same_bytes(got, self.expected(self.path("clip.mkv"), "gaussian=5,mosaic=32"))

    def test_errors_are_printed(self):
        program("run", "-i", "synth:size=320x240:frames=2", "-o", self.path("in.mkv"))
        _, printed = self.filter("320x240", "-filter", "frei0r.framewire", "chain=0=gausian=5")
        self.assertIn("unknown filter 'gausian'", printed)


