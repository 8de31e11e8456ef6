#!/usr/bin/env bash
# Checks that each C++ source compiles by itself, as in a plain `cmake -B build`: presets join sources, and a joined unit hides a
# missing include. Checks the syntax only, without generating code: about ten minutes on two cores. Sources that include generated
# files are skipped.
#   FRAMEWIRE_JOBS=2   sources at a time; default: the number of cores
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/alone
cmake -G "Unix Makefiles" -B "$build" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
export commands=$PWD/$build/compile_commands.json
python3 - "${FRAMEWIRE_JOBS:-$(nproc)}" <<'PYTHON'
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

INCLUDE_WHAT_IS_MADE = ("/filters/median_networks", "/bench/kit/machine.cpp")
with open(os.environ["commands"]) as file:
    sources = [one for one in json.load(file)
               if one["file"].endswith(".cpp") and not any(name in one["file"] for name in INCLUDE_WHAT_IS_MADE)]


def looks_well(one):
    words = shlex.split(one["command"])
    output = words.index("-o")
    words[output:output + 2] = ["-fsyntax-only", "-w", "-O0"]
    run = subprocess.run(words, cwd=one["directory"], stderr=subprocess.PIPE, text=True)
    if run.returncode:
        print(one["file"], run.stderr, sep="\n", flush=True)
    return run.returncode == 0


with concurrent.futures.ThreadPoolExecutor(int(sys.argv[1])) as threads:
    failed = list(threads.map(looks_well, sources)).count(False)
print(f"{len(sources)} sources, of which {failed} do not compile alone")
sys.exit(failed > 0)
PYTHON
