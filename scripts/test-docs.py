#!/usr/bin/env python3
"""Runs the shell blocks of the documentation in their own folder and network namespace (as root), in which the files, cameras and
other machines that they name exist. Servers run until their block ends, and endless commands for some seconds. Takes about
six minutes. Ends with 'N passed, N failed, N skipped', counting pages.

    scripts/test-docs.py [PROGRAM [PAGE...]]      default: build/dev/framewire, and all pages of PAGES

Skips a block after the line `<!-- example: WHY -->` or `<!-- recipe: NAME -->` (scripts/test-cluster.sh runs those), and commands
that match NOT_RUN.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PAGES = ["README.md", "docs/tutorial.md", "docs/recipes.md", "docs/cameras.md", "docs/live.md", "docs/privacy.md", "docs/safety.md",
         "docs/web.md", "docs/video.md", "docs/rtsp.md", "docs/page.md", "docs/viewer.md", "docs/events.md", "docs/sources.md", "docs/outputs.md", "docs/recordings.md",
         "docs/bandwidth.md", "docs/many-files.md", "docs/detect/README.md", "docs/hog/README.md", "docs/with/ffmpeg.md",
         "docs/plugins.md", "docs/with/frigate.md", "docs/with/gstreamer.md", "docs/with/go2rtc.md", "docs/with/home-assistant.md", "docs/with/mediamtx.md", "docs/with/motion.md",
         "docs/with/obs.md", "docs/with/vlc.md"]
LIMIT_S = 5

# Names in blocks that do not exist here, and their replacements.
CAMERA = "synth:size=320x240"
REPLACED = [(r"v4l2:/dev/video\d+[\w:=]*", CAMERA), (r"/dev/video\d+", CAMERA), (r"(?<!-o )rtsp://(?!127\.0\.0\.1:8554)[^\s'\"]+", CAMERA),
            (r"http://camera\.local/video\?token=\{env:DOOR_TOKEN\}", CAMERA), (r"-i SRC\b", f"-i {CAMERA}:frames=20"),
            (r"-o DST\b", "-o made.mkv"), (r"/recordings\b", "clips"), (r"\brecordings/(?=\s)", "clips/"),
            (r"SHA256:79d6f3e7\.\.\.", "$(cat fingerprint)"), (r"^install .*> token\b.*", ":"), (r"^mkdir ", "mkdir -p "),
            (r'cp "\$\(dpkg -L.*', ":"), (r"--start 0:20 --duration 30", "--start 0:01 --duration 0:01"),
            (r"raw:frames\.bgr:size=640x480", "raw:frames.bgr:size=320x240"), (r"0\.0\.0\.0:7878", "10.0.0.9:7878"),
            (r"https://camera\.local:7878", "http://127.0.0.1:7878"),
            (r"wss://cameras\.example:443", "ws://127.0.0.1:7878")]
NOT_RUN = r"(scripts/|cmake |make |ninja |build/|vlc |nats |sed )"  # the gate, the build, and programs that deps.sh does not install
HOSTS = "10.0.0.9 camera.local\n127.0.0.1 broker.lan frigate.lan\n"
OTHERS = ["10.0.0.5", "10.0.0.6"]  # machines with cameras
PREPARE = """
run() { framewire run --log-level error --progress none --backend cpu "$@"; }
mkdir clips cams cams/door photos people other rec kept
echo password >password && echo tokentokentokentoken >token && chmod 600 password token
run -i "$VTEST" --frames 40 -o vtest.avi
run -i synth:size=320x240:frames=30 -o clip.mp4
for seed in 1 2 3 4 5 6 7 8 9 10; do run -i synth:size=160x192:seed=$seed:frames=1 -o photos/p$seed.png; done
cp photos/* people && cp photos/* other && cp photos/p1.png photo.png && cp photo.png street.png
run -i clip.mp4 -o a.avi && cp a.avi b.avi && cp a.avi c.avi && cp a.avi day.avi
cp clip.mp4 clips/one.mp4 && cp clip.mp4 clips/two.mp4 && cp clip.mp4 cams/door/1.mp4 && cp clip.mp4 day.mp4
run -i clip.mp4 -o day.fwd && cp day.fwd a.fwd && cp day.fwd kept/door-1.fwd
run -i clip.mp4 -o frames.bgr
framewire hog --train people/ other/ -o model.npy --log-level error
"""


def in_own_network():
    """Restarts this script in namespaces with their own ports and mounts."""
    if os.environ.get("FRAMEWIRE_DOCS_NETWORK"):
        return
    os.environ["FRAMEWIRE_DOCS_NETWORK"] = "1"
    os.execvp("unshare", ["unshare", "--net", "--mount", sys.executable, *sys.argv])


class Place:
    """The folder, its programs, and the processes that run beside the blocks."""

    def __init__(self, program):
        self.folder = tempfile.mkdtemp(prefix="framewire-docs-")
        os.chdir(self.folder)
        self.environment = dict(os.environ, PATH=f"{self.folder}/bin:{os.environ['PATH']}", HOME=self.folder, DISPLAY=":97",
                                FREI0R_PATH=os.path.join(os.path.dirname(program), "frei0r-1"),
                                GST_PLUGIN_PATH=os.path.join(os.path.dirname(program), "gstreamer-1.0"),
                                XDG_STATE_HOME=f"{self.folder}/state", DOOR_TOKEN="secret",
                                VTEST="/usr/share/doc/opencv-doc/examples/data/vtest.avi")
        os.mkdir("bin")
        # Outputs of earlier blocks may exist, so all commands replace them.
        self.program("framewire", f'case "$1" in run | detect | hog | view | serve) set -- "$@" -y ;; esac; exec {program} "$@"')
        self.program("ffmpeg", 'exec /usr/bin/ffmpeg -y -nostdin -loglevel error "$@"')
        self.program("curl", f'exec /usr/bin/curl -sS --insecure --fail --max-time {LIMIT_S - 1} "$@"')
        with open("hosts", "w") as hosts:
            hosts.write(open("/etc/hosts").read() + HOSTS)
        setup = ["ip link set lo up", "mount --bind hosts /etc/hosts"] + [f"ip addr add {one}/32 dev lo" for one in [*OTHERS, "10.0.0.9"]]
        for command in setup + [PREPARE]:
            subprocess.run(["bash", "-e", "-c", command], env=self.environment, check=True, stdout=subprocess.DEVNULL)
        self.beside = [self.start("exec mosquitto -p 1883"), self.start("exec Xvfb :97 -screen 0 1280x800x24"),
                       self.start("while :; do ffmpeg -rtsp_flags listen -i rtsp://127.0.0.1:8554/door -f null -; done")]
        for address in OTHERS:
            self.beside.append(self.serve("--no-token", f"--listen {address}:7878"))

    def program(self, name, text):
        with open(f"bin/{name}", "w") as file:
            file.write(f"#!/bin/bash\n{text}\n")
        os.chmod(f"bin/{name}", 0o755)

    def start(self, command, log=subprocess.DEVNULL):
        return subprocess.Popen(["bash", "-c", command], env=self.environment, stdin=subprocess.DEVNULL, stdout=log,
                                stderr=subprocess.STDOUT, start_new_session=True)

    def serve(self, *options):
        with open("serve.log", "wb") as log:
            server = self.start(f"exec framewire serve -i door={CAMERA} -i yard={CAMERA} -i main={CAMERA} --detect --controls --record-dir rec "
                                f"--progress none {' '.join(options)}", log)
        wait_until_served(server, "serve.log")
        note_secrets("serve.log")
        return server

    def close(self):
        for process in self.beside:
            stop(process)
        os.chdir("/")
        shutil.rmtree(self.folder)


def text_of(path):
    with open(path, errors="replace") as file:
        return file.read()


def wait_until_served(server, log):
    for _ in range(300):
        if server.poll() is not None or "serving" in text_of(log):
            return
        time.sleep(0.1)


def note_secrets(log):
    """Writes the token and the certificate's fingerprint that the server of this log has made to files, for its clients."""
    if found := re.search(r"SHA256:[0-9a-f]{64}", text_of(log)):
        with open("fingerprint", "w") as file:
            file.write(found.group(0))
    if os.path.exists("state/framewire/token"):
        shutil.copy("state/framewire/token", "token")


def stop(process):
    """The exit status after Ctrl-C; 'hung' if the process did not end."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return "hung"
    return process.returncode


def blocks_of(page):
    text = text_of(os.path.join(ROOT, page))
    for match in re.finditer(r"(<!-- (?:example|recipe): .* -->\n)?^ *```sh\n(.*?)^ *```$", text, flags=re.S | re.M):
        if not match.group(1):
            block = match.group(2)
            for pattern, replacement in REPLACED:
                block = re.sub(pattern, replacement, block, flags=re.M)
            yield block


def commands_of(block):
    command = ""
    for line in block.split("\n"):
        command += ("\n" if command else "") + line
        if line.endswith("\\") or line.rstrip().endswith("|") or command.count("'") % 2:
            continue
        if command.strip() and not re.match("#|" + NOT_RUN, command.strip()):
            yield command.strip()
        command = ""


def run_block(place, block):
    """A description of what went wrong."""
    problems, server, assignments = [], None, ""
    if "framewire serve" not in block and (where := re.search(r"127\.0\.0\.1:7878|tls://camera\.local:7878", block)):
        options = ("--tls", "--listen 10.0.0.9:7878") if where.group(0).startswith("tls") else ()
        server = ("the server beside the block", place.serve(*options))

    def stop_server():
        if server and (status := stop(server[1])) not in (0, 130, -signal.SIGINT):
            problems.append(f"{server[0]}\n    ended with {status}")

    for command in commands_of(block):
        if re.match(r"\w+=\S+$", command) or re.match(r"\w+='[^']*'$", command):
            assignments += command + "\n"
            continue
        serves = command.startswith("framewire serve")
        if serves:
            stop_server()
            server = None
        with open("log", "wb") as log:
            process = place.start(assignments + command, log)
        if serves:
            wait_until_served(process, "log")
            server = (command, process)
            note_secrets("log")
            status, good = process.poll(), (None, 0)
        else:
            try:
                status, good = process.wait(LIMIT_S), (0, 28) if command.startswith("curl -N") else (0,)
            except subprocess.TimeoutExpired:
                status, good = stop(process), (0, 123, 130, 255, -signal.SIGINT)  # including ffplay's and ffmpeg's
        if status not in good:
            problems.append(f"{command}\n    ended with {status}: {text_of('log')[-500:].strip()}")
    stop_server()
    return problems


def main():
    program = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(ROOT, "build/dev/framewire")
    pages = [os.path.relpath(os.path.abspath(page), ROOT) for page in sys.argv[2:]] or PAGES
    in_own_network()
    place = Place(program)
    passed = failed = 0
    try:
        for page in pages:
            problems = [problem for block in blocks_of(page) for problem in run_block(place, block)]
            for problem in problems:
                print(problem)
            passed, failed = passed + (not problems), failed + bool(problems)
            print(f"[  FAILED  ] {page}" if problems else f"[       OK ] {page}", flush=True)
    finally:
        place.close()
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


sys.exit(main())
