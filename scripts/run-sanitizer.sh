#!/usr/bin/env bash
# Runs the CUDA tests of gpu-bundle/ under each tool of compute-sanitizer (or the named ones), on fewer and smaller shapes.
# Each test is a separate process and many run at a time, because a tool keeps one CPU core busy whatever the GPU does. Ends with one
# line per tool; a test that times out counts neither as passed nor as failed in it, but the exit status is 1.
#   FRAMEWIRE_JOBS=12                           tests at a time; default: three quarters of the cores
#   FRAMEWIRE_LIMIT_S=300                       time limit of a test in seconds
#   FRAMEWIRE_TESTS="./tests/filters_tests"     test programs to run
#   GTEST_FILTER="*Median*/cuda"                tests to run
set -uo pipefail
cd "$(dirname "$0")" || exit 1
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
[ -x "$sanitizer" ] || { echo "compute-sanitizer is not on this machine" >&2; exit 78; }
[ $# -gt 0 ] || set -- memcheck racecheck initcheck synccheck
read -ra programs <<<"${FRAMEWIRE_TESTS:-./tests/cuda_tests ./tests/colour_tests ./tests/filters_tests ./tests/codec_tests ./tests/detect_tests ./tests/hog_tests}"
jobs=${FRAMEWIRE_JOBS:-$((($(nproc) * 3 + 3) / 4))}
limit_s=${FRAMEWIRE_LIMIT_S:-300}
logs=${FRAMEWIRE_LOGS:-logs}
export sanitizer limit_s logs FRAMEWIRE_REQUIRE_GPU=1 FRAMEWIRE_TEST_BRIEF=1 FRAMEWIRE_TEST_FONT=$PWD/test-font.ttf

check() { # TOOL PROGRAM TEST: runs one test under one tool; prints the outcome, its arguments, and the log
    local log outcome options=()
    log=$logs/$1/$(basename "$2").${3//\//-}.log
    # Some tests make calls that a GPU must refuse; a refused call is not a finding.
    [ "$1" != memcheck ] || options=(--report-api-errors no)
    timeout --kill-after=10 "$limit_s" ./under.sh "$sanitizer" --tool "$1" "${options[@]}" --error-exitcode 99 --print-limit 5 \
        "$2" --gtest_filter="$3" >"$log" 2>&1
    case $? in
        0) grep -q '^\[  PASSED  \] 1 test' "$log" && outcome=passed || outcome=skipped ;;
        124 | 137) outcome=unfinished ;;
        *) outcome=failed ;;
    esac
    echo "$outcome $1 $2 $3 $log"
}
export -f check

for tool in "$@"; do mkdir -p "$logs/$tool"; done
for tool in "$@"; do
    for program in "${programs[@]}"; do
        ./under.sh "$program" --gtest_list_tests --gtest_filter="${GTEST_FILTER:-*/cuda}" |
            awk -v of="$tool $program" '/^[^ ].*\.$/ {suite = $1} /^  / {print of, suite $1}'
    done
done | xargs -r -P "$jobs" -L 1 bash -c 'check "$@"' check >"$logs/outcomes"

result=0
for tool in "$@"; do
    grep -E "^(failed|unfinished) $tool " "$logs/outcomes" | sort && result=1
    awk -v tool="$tool" '$2 == tool {++count[$1]} END {
        printf "%s: %d passed, %d failed, %d unfinished, %d skipped\n", tool, count["passed"], count["failed"],
            count["unfinished"], count["skipped"]}' "$logs/outcomes"
done
grep -q '^passed ' "$logs/outcomes" && exit $result
echo "nothing passed" >&2
exit 1
