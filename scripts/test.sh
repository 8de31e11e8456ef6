#!/usr/bin/env bash
# Installs what is missing, builds, runs all tests. The last line reads 'N passed, N failed, N skipped'.
#   scripts/test.sh [PRESET]     dev (the default), cpu-only, asan, tsan; under the sanitizers fewer shapes (CONTRIBUTING.md)
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-dev}
scripts/deps.sh
build=build/$preset
cmake --preset "$preset" >/dev/null
ninja -C "$build" all

export TEST_JOBS=3              # many tests wait more than they compute
export FRAMEWIRE_REQUIRE_DATA=1 # deps.sh has installed all that tests read
case $preset in asan | tsan) export FRAMEWIRE_TEST_BRIEF=1 ;; esac
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:allocator_may_return_null=1}
# ThreadSanitizer's own exit status, 66, is the program's for a missing input.
export TSAN_OPTIONS=${TSAN_OPTIONS:-suppressions=$PWD/tests/tsan.suppressions:allocator_may_return_null=1:exitcode=99}
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/tests/lsan.suppressions:print_suppressions=0}
# The end-to-end tests take longest, so they begin first, in two halves.
long=("$build/tests/e2e_tests@1/2" "$build/tests/e2e_tests@2/2")
programs=()
for program in "$build"/tests/*_tests; do [ "$program" = "$build/tests/e2e_tests" ] || programs+=("$program"); done
if [ "$preset" = dev ]; then
    # Not GoogleTest: the benches, the format and the layering of the sources, how tests are counted, what CUDA sources compile
    # for, and the installed package as another project uses it.
    scripts/count-tests.sh "$build/logs" "${long[@]}" tests/cuda_objects_test.sh tests/benches_test.sh \
        tests/consumers/consumer_test.sh tests/format_test.sh tests/layering_test.sh tests/count_tests_test.sh "${programs[@]}"
else
    scripts/count-tests.sh "$build/logs" "${long[@]}" "${programs[@]}"
fi
