#!/usr/bin/env bash
# Builds the fuzzers with clang and libFuzzer (preset fuzz) and runs all, or the named ones, with the corpus in the source tree. New
# inputs go to build/fuzz/corpus/NAME/, from which the next run continues; findings go to build/fuzz/findings/ as NAME-crash-...,
# and to tests/fuzz/corpus/NAME/ once they are fixed. Ends with 'N held, N broke'.
#   scripts/fuzz.sh [SECONDS] [NAME...]     60 seconds each; NAME as in tests/fuzz/*/NAME_fuzz.cpp
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift || true
if [ $# -eq 0 ]; then
    for folder in tests/fuzz/corpus/*/; do set -- "$@" "$(basename "$folder")"; done
fi
for name in "$@"; do
    compgen -G "tests/fuzz/*/${name}_fuzz.cpp" >/dev/null || {
        echo "fuzz.sh: there is no fuzzer '$name' in tests/fuzz" >&2
        exit 2
    }
done
scripts/deps.sh
cmake --preset fuzz >/dev/null
ninja -C build/fuzz "${@/%/_fuzz}"

held=0 broke=0
mkdir -p build/fuzz/findings build/fuzz/logs
for name in "$@"; do
    kept=build/fuzz/corpus/$name log=build/fuzz/logs/$name.log
    mkdir -p "$kept"
    if "build/fuzz/fuzz/${name}_fuzz" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="build/fuzz/findings/$name-" "$kept" "tests/fuzz/corpus/$name" >"$log" 2>&1; then
        echo "$name: held, $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
        held=$((held + 1))
    else
        tail -n 40 "$log"
        echo "$name: broke, see $log and build/fuzz/findings/"
        broke=$((broke + 1))
    fi
done
echo "$held held, $broke broke"
[ "$broke" -eq 0 ]
