#!/usr/bin/env bash
# Builds the program and the tests of most layers for arm64, and runs them and the recorded results under QEMU, which takes about
# 10 times as long as on a processor. Reports the way GoogleTest does; GTEST_TOTAL_SHARDS and GTEST_SHARD_INDEX select a part of
# the tests.
#   tests/arm64_test.sh --build      only builds
cd "$(dirname "$0")/.." || exit 1
build=build/arm64
programs=(media_tests codec_tests detect_tests plan_tests hog_tests filters_tests colour_tests c_tests core_tests cuda_tests)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

skip() { # REASON
    printf '%s: Skipped\n%s\n[  SKIPPED ] Arm64.Builds (0 ms)\n' "$0" "$1"
    exit 0
}
[ "$(uname -m)" = x86_64 ] || skip "no cross build: this machine is not x86-64"
# Shards must not build at the same time.
mkdir -p build
exec 9>build/arm64.lock
flock 9
scripts/arm64-root.sh >"$log" 2>&1 || {
    cat "$log" >&2
    skip "no packages for arm64: $(tail -n 1 "$log")"
}
if ! { cmake --preset arm64 && ninja -C "$build" framewire "${programs[@]}"; } >"$log" 2>&1; then
    tail -n 60 "$log"
    echo "[  FAILED  ] Arm64.Builds (0 ms)"
    exit 1
fi
flock -u 9
[ "${1:-}" != --build ] || exit 0
[ "${GTEST_SHARD_INDEX:-0}" != 0 ] || echo "[       OK ] Arm64.Builds (0 ms)"

export FRAMEWIRE_TEST_BRIEF=1 # see docs/maintaining/tests.md
# The cores of a Jetson Nano; those of a Raspberry Pi 4 have the same instructions.
under="qemu-aarch64 -cpu cortex-a57 -L $PWD/build/arm64-root"
status=0
for program in "${programs[@]}"; do
    $under "$build/tests/$program" || status=1
done
FRAMEWIRE_PROGRAM=$build/framewire TEST_UNDER=$under tests/golden_test.sh || status=1
exit $status
