#!/usr/bin/env bash
# Builds everything with shared libraries and without CUDA (preset shared), installs it, moves the installation, and
# runs the consumers and the program from there. Not part of the gate, because it compiles everything a second time.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset shared >/dev/null
ninja -C build/shared
FRAMEWIRE_CONSUMER_BUILD=build/shared tests/consumers/consumer_test.sh

folder=$PWD/build/shared/moved
rm -rf "$folder"
mv build/shared/consumer/prefix "$folder"
program=$folder/bin/framewire
if readelf -d "$program" | grep -q "$PWD" || ldd "$program" | grep -F 'not found'; then
    echo "[  FAILED  ] Shared.FindsItsLibraries (0 ms)"
    exit 1
fi
"$program" run -i synth:size=320x240:objects=3:frames=30 -f median=5,gaussian=5 -o "$folder/out.y4m" -y --log-level warning
"$program" detect -i "$folder/out.y4m" -o "$folder/out.jsonl" -y --log-level warning
test -s "$folder/out.y4m" -a -s "$folder/out.jsonl"
echo "[       OK ] Shared.RunsAfterBeingMoved (0 ms)"
