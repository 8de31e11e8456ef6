#!/usr/bin/env bash
# Checks that each byte that viewers of clips see is within its bound: in all modes, at thresholds 0 to 254, a few frames per clip.
#   scripts/experiments/check-bound.sh CLIP...
# A clip may be a folder of pictures of one size. FRAMEWIRE_PRESET (dev) is the preset to build; FRAMEWIRE_QUICK=1 checks every 16th
# threshold. Exits with 1 if a byte exceeds its bound.
set -euo pipefail
[ $# -ge 1 ] || {
    sed -n '2,5s/^# *//p' "$0" >&2
    exit 2
}
preset=${FRAMEWIRE_PRESET:-dev}
cd "$(dirname "$0")/../.."
[ -f "build/$preset/build.ninja" ] || cmake --preset "$preset" >/dev/null
ninja -C "build/$preset" framewire-bench >/dev/null

result=0
for clip in "$@"; do
    echo "== $clip"
    "build/$preset/bench/framewire-bench" proofs/bound --threads 1 ${FRAMEWIRE_QUICK:+--quick} --input "$clip" |
        sed '1,/all bytes within/d' || result=1
done
exit $result
