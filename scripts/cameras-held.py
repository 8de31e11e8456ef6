#!/usr/bin/env python3
"""How many synthetic cameras one server holds at their rate: scripts/cameras-held.py PROGRAM SIZE FPS [--watched] [--seconds N]
[serve's options...]. Doubles the number of cameras until one of them falls behind by more than 1 %, then halves the step.
Prints for each number the slowest camera's rate, processor time of the server per frame, threads and memory. With --watched each
camera has a viewer, in processes of their own on the same machine."""

import argparse
import json
import os
import signal
import subprocess
import sys
import time

TICKS = os.sysconf("SC_CLK_TCK")
SETTLING_SECONDS = 3


def processor_seconds(process):
    """User and system time of a process so far."""
    with open(f"/proc/{process}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def status_of(process):
    with open(f"/proc/{process}/status", encoding="utf-8") as file:
        return dict(line.split(":", 1) for line in file)


def next_progress(server):
    """Frames of each camera, by name."""
    for line in server.stderr:
        if line.startswith("{"):
            progress = json.loads(line)
            cameras = progress.get("cameras", {"c0": progress})
            return {name: camera["frame"] for name, camera in cameras.items()}
    sys.exit("the server ended")


def started(options, count):
    """A server, and where it is."""
    arguments = [options.program, "serve", "--listen", "127.0.0.1:0", "--progress", "json"]
    for number in range(count):
        arguments += ["-i", f"c{number}=synth:size={options.size}:fps={options.fps}:seed={number + 1}"]
    server = subprocess.Popen(arguments + options.more, stderr=subprocess.PIPE, text=True)
    for line in server.stderr:
        if " at tcp://" in line:
            return server, line.split(" at ")[1].rsplit("/", 1)[0]
    sys.exit("the server did not start")


def measured(options, count):
    """Whether so many are held, after a line that tells of them."""
    server, address = started(options, count)
    viewers = []
    if options.watched:
        view = [options.program, "view", "--no-window", "--log-level", "error"]
        viewers = [subprocess.Popen(view + [f"{address}/c{number}"]) for number in range(count)]
    try:
        begin = time.monotonic()
        while time.monotonic() - begin < SETTLING_SECONDS:
            before = next_progress(server)
        begin, busy_before = time.monotonic(), processor_seconds(server.pid)
        while time.monotonic() - begin < options.seconds:
            after = next_progress(server)
        seconds, busy = time.monotonic() - begin, processor_seconds(server.pid) - busy_before
        status = status_of(server.pid)
    finally:
        for process in viewers + [server]:
            process.send_signal(signal.SIGINT)
        server.stderr.read()
        for process in viewers + [server]:
            process.wait()
    frames = [after[name] - before[name] for name in after]
    slowest = min(frames) / seconds
    held = slowest >= 0.99 * options.fps
    print(f"{count:4d} cameras: slowest {slowest:6.2f} fps, {1000 * busy / sum(frames):5.2f} ms of a core per frame, "
          f"{busy / seconds:4.2f} cores, {int(status['Threads'])} threads, {int(status['VmRSS'].split()[0]) // 1024} MiB"
          f"{'' if held else '  not held'}", flush=True)
    return held


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("size")
    parser.add_argument("fps", type=float)
    parser.add_argument("--watched", action="store_true")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--first", type=int, default=1, help="how many cameras to begin with")
    options, options.more = parser.parse_known_args()
    held, missed = 0, None
    count = options.first
    while missed is None or missed - held > 1:
        if measured(options, count):
            held = count
        else:
            missed = count
        count = 2 * held if missed is None else (held + missed) // 2
        if count == held:
            break
    print(f"{held} cameras of {options.size} at {options.fps:g} fps are held")


if __name__ == "__main__":
    main()
