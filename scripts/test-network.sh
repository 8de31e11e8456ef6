#!/usr/bin/env bash
# Runs the cases of tests/network, random requests to a live camera, and a browser page that is repeatedly stopped, at their full
# length and width, about forty minutes in all; scripts/test.sh runs them briefly. They include 200 viewers of which one is stopped,
# a minute with a twentieth of the needed bandwidth, and ten minutes of connecting and disconnecting. Ends with the figures of the
# cases and 'N passed, N failed, N skipped'.
#   scripts/test-network.sh [CASE...]     names, or parts: Crowd, BadLine.Recovers, Killed, Soak, RandomRequests, frozen; default: all
# FRAMEWIRE_PRESET (dev) is the preset to build. Lines that lose packets need root; their tests are skipped otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${FRAMEWIRE_PRESET:-dev}
build=build/$preset
[ -f "$build/build.ninja" ] || cmake --preset "$preset" >/dev/null
ninja -C "$build" network_tests jobs_tests >/dev/null

filter=
for case in "${@:-}"; do filter+="${filter:+:}*$case*"; done
# Selects the tests of other programs that run here.
requests=
for case in "${@:-RandomRequests}" "${@:-ImmediateMasks}"; do
    case $case in RandomRequests* | ImmediateMasks*) requests+="${requests:+:}*$case*" ;; esac
done
page=
for case in "${@:-frozen}"; do [ "$case" != frozen ] || page=web/tests/frozen.test.js; done
# Processes share files with the pictures of some seconds. Keeps these files in memory if there is room.
if [ -z "${TMPDIR:-}" ] && room=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1) && [ "${room:-0}" -ge 2000000 ]; then
    TMPDIR=$(mktemp -d /dev/shm/framewire-network-XXXXXX)
    export TMPDIR
    trap 'rm -rf "$TMPDIR"' EXIT
fi
# One viewer of the soak tests is a browser.
if [ -d web/node_modules ] && [ -x "${CHROMIUM:-/usr/bin/chromium}" ]; then
    export FRAMEWIRE_WATCH_STATES=$PWD/web/tests/kit/watch_states.js
fi
mkdir -p "$build/logs"
log=$build/logs/network.log
export FRAMEWIRE_NETWORK_LONG=1
{
    timeout 4800 "$build/tests/network_tests" --gtest_filter="$filter" || true
    [ -z "$requests" ] || timeout 3000 "$build/tests/jobs_tests" --gtest_filter="$requests" || true
    [ -z "$page" ] || tests/web_test.sh "$page" || true
} 2>&1 | tee "$log"

echo
awk '/^\[ RUN / { name = $4; if (name == "") name = $3 } /^  figure: / { sub(/^  figure: /, ""); printf "%-70s %s\n", name, $0 }' "$log"
passed=$(grep -c '^\[       OK \]' "$log" || true)
failed=$(grep -c '^\[  FAILED  \] .* ms)$' "$log" || true)
skipped=$(grep -c '^\[  SKIPPED \] .* ms)$' "$log" || true)
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
