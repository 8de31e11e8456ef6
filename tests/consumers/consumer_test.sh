#!/usr/bin/env bash
# Installs framewire into a temporary folder, and builds and runs programs of a project that finds it there with find_package.
cd "$(dirname "$0")/../.." || exit 1
build=${FRAMEWIRE_CONSUMER_BUILD:-build/dev}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
attempt() {
    cmake --install "$build" --prefix "$folder/prefix" >"$folder/log" 2>&1 &&
        cmake -S tests/consumers/project -B "$folder/build" -G Ninja -DCMAKE_PREFIX_PATH="$folder/prefix" >>"$folder/log" 2>&1 &&
        cmake --build "$folder/build" >>"$folder/log" 2>&1 &&
        "$folder/build/encode" >>"$folder/log" 2>&1 &&
        "$folder/build/broadcast" >>"$folder/log" 2>&1 &&
        "$folder/build/job" >>"$folder/log" 2>&1 &&
        "$folder/prefix/bin/framewire" --version >>"$folder/log" 2>&1
}
if attempt; then
    echo "[       OK ] Consumer.FindPackage (0 ms)"
else
    tail -n 40 "$folder/log"
    echo "[  FAILED  ] Consumer.FindPackage (0 ms)"
    exit 1
fi
