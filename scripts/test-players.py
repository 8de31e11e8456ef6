#!/usr/bin/env python3
"""Plays the H.264 of `framewire serve` in programs that people use, and compares a picture of each with the one that framewire's
viewers see: the seven bars of a colour chart, at most 6 per channel apart. Plays a file with sound, too. Skips programs that are not
installed. Takes about a minute. Reports the way GoogleTest does.

    scripts/test-players.py [PROGRAM]    default: build/dev/framewire
"""
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PROGRAM = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(ROOT, "build/dev/framewire")
WIDTH, HEIGHT = 640, 360
CHART = f"lavfi:smptebars=size={WIDTH}x{HEIGHT}:rate=30,noise=alls=12:allf=t"
MOST_DIFFERENCE = 6
LIMIT_S = 30


def bars(picture):
    """Returns the mean colours of the chart's bars in a picture of any format and size."""
    region = ["-vf", f"scale={WIDTH}:{HEIGHT},crop={WIDTH // 7 * 7}:60:0:90,scale=7:1:flags=area", "-frames:v", "1"]
    raw = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", picture, *region, "-pix_fmt", "rgb24", "-f", "rawvideo", "-"],
                         capture_output=True, timeout=LIMIT_S).stdout
    if len(raw) != 21:
        raise RuntimeError(f"{picture} is not a picture")
    return raw


def run(command, **more):
    """Runs a player, which may have to be stopped. Returns what it says."""
    ended = subprocess.run(["timeout", str(LIMIT_S), *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           errors="replace", stdin=subprocess.DEVNULL, **more)
    return ended.stdout


def ffmpeg(address, folder):
    said = run(["ffmpeg", "-nostdin", "-v", "error", "-i", address, "-frames:v", "1", "-update", "1", f"{folder}/1.png"])
    return f"{folder}/1.png", said


def gstreamer(address, folder):
    said = run(["gst-launch-1.0", "-q", "souphttpsrc", f"location={address}", "is-live=true", "!", "qtdemux", "!", "h264parse", "!",
                "avdec_h264", "!", "videoconvert", "!", "pngenc", "snapshot=true", "!", "filesink", f"location={folder}/1.png"])
    return f"{folder}/1.png", said


def vlc(address, folder):
    """VLC does not run as root. Its scene filter writes every tenth picture."""
    os.chmod(folder, 0o777)
    nobody = ["setpriv", "--reuid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    said = run([*nobody, "cvlc", "-I", "dummy", "--no-audio", "--vout=dummy", "--video-filter=scene", "--scene-format=png",
                "--scene-ratio=10", f"--scene-path={folder}", "--run-time=5", "--play-and-exit", address, "vlc://quit"],
               env={**os.environ, "HOME": folder})
    pictures = sorted(name for name in os.listdir(folder) if name.endswith(".png"))
    return f"{folder}/{pictures[-1]}" if pictures else f"{folder}/nothing", said


def ffmpeg_over_udp(address, folder):
    said = run(["ffmpeg", "-nostdin", "-v", "error", "-rtsp_transport", "udp", "-i", address, "-frames:v", "1", "-update", "1",
                f"{folder}/1.png"])
    return f"{folder}/1.png", said


def gstreamer_over_rtsp(address, folder):
    said = run(["gst-launch-1.0", "-q", "rtspsrc", f"location={address}", "latency=0", "!", "rtph264depay", "!", "avdec_h264", "!",
                "videoconvert", "!", "pngenc", "snapshot=true", "!", "filesink", f"location={folder}/1.png"])
    return f"{folder}/1.png", said


def opencv(address, folder):
    said = run(["/usr/bin/python3", "-c", f"import cv2; cv2.imwrite('{folder}/1.png', cv2.VideoCapture('{address}').read()[1])"])
    return f"{folder}/1.png", said


def motion(address, folder):
    """Motion writes a picture at the begin of an event, which `emulate_motion` starts at once. It stores the video's limited range in
    JPEG files, which have the full range, so its pictures are too pale."""
    with open(f"{folder}/motion.conf", "w") as file:
        file.write(f"""netcam_url {address}\nwidth {WIDTH}\nheight {HEIGHT}\nframerate 10\ntarget_dir {folder}\nlog_file {folder}/log
emulate_motion on\npicture_output first\npicture_quality 95\nmovie_output off\nwebcontrol_port 0\nstream_port 0
text_left\ntext_right\n""")
    said = run(["timeout", "-s", "INT", "10", "motion", "-n", "-c", f"{folder}/motion.conf"])
    for name in sorted(name for name in os.listdir(folder) if name.endswith(".jpg")):
        said += run(["ffmpeg", "-nostdin", "-v", "error", "-y", "-i", f"{folder}/{name}", "-vf", "setrange=tv", f"{folder}/1.png"])
    return f"{folder}/1.png", said


# Paths below the camera's address, over HTTP or, if they begin with "rtsp", over RTSP.
PLAYERS = [("ffmpeg", "ffmpeg", ffmpeg, ["stream.mp4", "stream.mp4?width=320", "index.m3u8", "rtsp", "rtsp?width=320"]),
           ("ffmpeg", "ffmpeg over UDP", ffmpeg_over_udp, ["rtsp"]),
           ("gst-launch-1.0", "GStreamer", gstreamer_over_rtsp, ["rtsp", "rtsp?max-rate=10"]),
           ("/usr/bin/python3", "OpenCV", opencv, ["rtsp"]),
           ("motion", "Motion", motion, ["rtsp"]),
           ("gst-launch-1.0", "GStreamer", gstreamer, ["stream.mp4", "stream.mp4?max-rate=10"]),
           ("cvlc", "VLC", vlc, ["stream.mp4", "index.m3u8"])]


# Plays until the sound and the pictures of two seconds are decoded, and reports to the server from which it was loaded.
PAGE = """<!doctype html><video src="ADDRESS" autoplay></video><script>
const video = document.querySelector("video"), begin = Date.now();
const timer = setInterval(() => {
    const seen = {time: video.currentTime, pictures: video.webkitDecodedFrameCount, sound: video.webkitAudioDecodedByteCount,
                  error: video.error?.message};
    if (!seen.error && Date.now() < begin + LIMIT && (seen.time < 2 || seen.sound === 0)) return;
    clearInterval(timer);
    fetch("/", {method: "POST", body: JSON.stringify(seen)});
}, 100);
</script>"""


def chromium(address):
    """Returns the properties of a <video> that plays an address."""
    reported = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(PAGE.replace("ADDRESS", address).replace("LIMIT", "15000").encode())

        def do_POST(self):
            reported.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as page, tempfile.TemporaryDirectory() as folder:
        threading.Thread(target=page.serve_forever, daemon=True).start()
        browser = subprocess.Popen(["chromium", "--headless=new", "--no-sandbox", "--mute-audio", f"--user-data-dir={folder}",
                                    "--autoplay-policy=no-user-gesture-required", f"http://127.0.0.1:{page.server_port}/"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": folder})
        end = time.monotonic() + LIMIT_S
        while not reported and time.monotonic() < end:
            time.sleep(0.1)
        browser.terminate()
        browser.wait()
        page.shutdown()
    return reported[0] if reported else {}


def chromium_with_sound(address):
    seen = chromium(address)
    return None if seen.get("time", 0) >= 2 and seen.get("sound", 0) > 0 and seen.get("pictures", 0) > 20 else f"it reports {seen}"


def gstreamer_with_sound(address):
    said = run(["gst-launch-1.0", "rtspsrc", f"location={address}", "!", "rtpmp4gdepay", "!", "avdec_aac", "!", "identity",
                "eos-after=50", "!", "fakesink"])
    return None if "Got EOS" in said else said


SOUND_PLAYERS = [("chromium", "Chromium", chromium_with_sound, ["stream.mp4"]),
                 ("gst-launch-1.0", "GStreamer", gstreamer_with_sound, ["rtsp"])]


def report(name, problem, begin):
    """Prints the result of a test. Returns true if there was no problem."""
    if problem:
        print(problem)
    print(f"[{'  FAILED  ' if problem else '       OK '}] Players.{name} ({1000 * (time.monotonic() - begin):.0f} ms)", flush=True)
    return not problem


def check(name, player, address, seen):
    """Tests one player with one address. Returns true if it showed the right picture."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        try:
            picture, said = player(address, folder)
            difference = max(abs(a - b) for a, b in zip(bars(picture), seen))
            problem = f"the colours differ by {difference}" if difference > MOST_DIFFERENCE else None
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            problem = f"{error}\n{said}"
    return report(name, problem, begin)


def main():
    with tempfile.TemporaryDirectory() as folder:
        tune = f"{folder}/tune.mp4"
        subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=size={WIDTH}x{HEIGHT}:rate=30", "-f",
                        "lavfi", "-i", "sine=frequency=440:sample_rate=48000", "-t", "10", "-c:v", "libx264", "-preset", "ultrafast",
                        "-pix_fmt", "yuv420p", "-c:a", "aac", tune], check=True)
        return play(tune)


def play(tune):
    """Serves the chart and a file with sound, and runs all players."""
    server = subprocess.Popen([PROGRAM, "serve", "--listen", "127.0.0.1:0", "-i", f"door={CHART}", "-i", f"tune={tune}", "--loop",
                               "--video", "--rtsp", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
    try:
        rtsp = next(found.group(1) for line in server.stderr if (found := re.search(r"over RTSP: (rtsp://\S+door)", line)))
        base = next(found.group(1) for line in server.stderr if (found := re.search(r"in a browser: (http://\S+)/", line)))
        time.sleep(1)  # for the first frame
        with tempfile.TemporaryDirectory() as folder:
            urllib.request.urlretrieve(f"{base}/door/snapshot.png", f"{folder}/seen.png")
            seen = bars(f"{folder}/seen.png")
        good = True
        for program, title, player, paths in PLAYERS:
            if not shutil.which(program):
                print(f"{title} is not installed")
                continue
            for path in paths:
                address = rtsp + path.removeprefix("rtsp") if path.startswith("rtsp") else f"{base}/door/{path}"
                good &= check(f"{title} plays {path}", player, address, seen)
        for program, title, player, paths in SOUND_PLAYERS:
            if not shutil.which(program):
                print(f"{title} is not installed")
                continue
            for path in paths:
                begin = time.monotonic()
                address = rtsp.removesuffix("door") + "tune" if path == "rtsp" else f"{base}/tune/{path}"
                good &= report(f"{title} hears {path}", player(address), begin)
        return 0 if good else 1
    finally:
        server.kill()
        server.wait()


sys.exit(main())
