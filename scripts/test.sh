#!/usr/bin/env bash
# Installs what is missing, builds, and runs all tests. The last line reads 'N passed, N failed, N skipped'.
#   scripts/test.sh [PRESET]     dev (the default), cpu-only, asan, tsan; sanitizers use fewer shapes (docs/maintaining/tests.md)
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-dev}
scripts/deps.sh
build=build/$preset
# With an empty cache, the preprocessor mode finds nothing and the depend mode is 5 % faster.
if [ "$(ccache --print-stats | awk '$1 == "cache_size_kibibyte" { print $2 }')" = 0 ]; then export CCACHE_DEPEND=1; fi
cmake --preset "$preset" >/dev/null
# The benches are built before the tests, some of which measure latencies.
targets=(all)
[ "$preset" != dev ] || targets+=(framewire-bench opencv-detection-curve train-models)
ninja -C "$build" "${targets[@]}"
[ "$preset" != dev ] || tests/arm64_test.sh --build || true # tests/arm64_test.sh reports failures

export TEST_JOBS=4              # many tests wait more than they compute
export FRAMEWIRE_REQUIRE_DATA=1 # deps.sh has installed everything that tests read
# Tests write thousands of files, some repeatedly, and do not test the disk. Keeps the files in memory if there is room.
if [ -z "${TMPDIR:-}" ] && room=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1) && [ "${room:-0}" -ge 4000000 ]; then
    TMPDIR=$(mktemp -d /dev/shm/framewire-tests-XXXXXX)
    export TMPDIR
    trap 'rm -rf "$TMPDIR"' EXIT
fi
case $preset in asan | tsan) export FRAMEWIRE_TEST_BRIEF=1 TEST_TIMEOUT=${TEST_TIMEOUT:-3600} ;; esac
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:allocator_may_return_null=1}
# Changes ThreadSanitizer's exit status, which by default is 66, the program's status for a missing input.
export TSAN_OPTIONS=${TSAN_OPTIONS:-suppressions=$PWD/tests/tsan.suppressions:allocator_may_return_null=1:exitcode=99}
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/tests/lsan.suppressions:print_suppressions=0}
# The slowest tests start first. The end-to-end tests, in eight shards, and the network tests mostly wait; meanwhile the
# benches check their results and the filters' tests compute.
tests=$build/tests
first=("$tests/network_tests")
next=()
for shard in 1 2 3 4; do first+=("$tests/e2e_tests@$shard/8"); done
for shard in 5 6 7 8; do next+=("$tests/e2e_tests@$shard/8"); done
next+=("$tests/filters_tests")
last=()
for program in "$tests"/*_tests; do
    case ${program##*/} in e2e_tests | network_tests | filters_tests) ;; *) last+=("$program") ;; esac
done
if [ "$preset" = dev ]; then
    # These tests do not use GoogleTest: the benches, the recorded results, the format and the layering of the sources, retired
    # words, how tests are counted, the reference of the headers, what the demo installs and builds, the plots, the documents, what
    # CUDA sources compile for, the installed package as another project uses it from C++, C and Python, what runs in browsers,
    # the plugins of other programs, and the build for arm64.
    first+=(tests/benches_test.sh)
    for shard in 1 2 3; do next+=("tests/arm64_test.sh@$shard/3"); done
    next+=(tests/web_test.sh tests/golden_test.sh tests/consumers/consumer_test.sh tests/cuda_objects_test.sh
        tests/consumers/c_test.sh tests/python_test.py tests/plugins_test.py)
    last+=(tests/format_test.sh tests/layering_test.sh tests/words_test.sh tests/count_tests_test.sh tests/reference_test.sh
        tests/demo_test.sh tests/plots_test.py tests/docs_test.py)
fi
scripts/count-tests.sh "$build/logs" "${first[@]}" "${next[@]}" "${last[@]}"
