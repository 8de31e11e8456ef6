#!/usr/bin/env bash
# Installs framewire into a folder, and builds and runs programs of a project that finds it there with find_package; there too
# every installed header is compiled by itself.
cd "$(dirname "$0")/../.." || exit 1
build=${FRAMEWIRE_CONSUMER_BUILD:-build/dev}
folder=$PWD/$build/consumer # the same in every run, for ccache
rm -rf "$folder"
mkdir -p "$folder"
launcher="env;CCACHE_SLOPPINESS=pch_defines,time_macros;ccache" # as ccache wants it for precompiled headers
attempt() {
    cmake --install "$build" --prefix "$folder/prefix" >"$folder/log" 2>&1 &&
        cmake -S tests/consumers/project -B "$folder/build" -G Ninja -DCMAKE_PREFIX_PATH="$folder/prefix" \
            -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" >>"$folder/log" 2>&1 &&
        cmake --build "$folder/build" >>"$folder/log" 2>&1 &&
        cd "$folder" &&
        for program in encode record mirror broadcast job; do "build/$program" >>log 2>&1 || return 1; done &&
        prefix/bin/framewire --version >>log 2>&1
}
if attempt; then
    echo "[       OK ] Consumer.FindPackage (0 ms)"
else
    tail -n 40 "$folder/log"
    echo "[  FAILED  ] Consumer.FindPackage (0 ms)"
    exit 1
fi
