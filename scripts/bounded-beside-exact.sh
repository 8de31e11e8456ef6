#!/usr/bin/env bash
# What the modes exact and bounded take on clips: the first picture, bytes per step, and bounded over exact for FRAMES.
#   scripts/bounded-beside-exact.sh THRESHOLD FRAMES CLIP...
# FRAMEWIRE_PRESET (dev) is what is built. Ends with 1 where bounded takes more than exact.
set -euo pipefail
[ $# -ge 3 ] || {
    sed -n '2,4s/^# *//p' "$0" >&2
    exit 2
}
threshold=$1 frames=$2
shift 2
preset=${FRAMEWIRE_PRESET:-dev}
cd "$(dirname "$0")/.."
[ -f "build/$preset/build.ninja" ] || cmake --preset "$preset" >/dev/null
ninja -C "build/$preset" framewire-bench >/dev/null

# NAME CLIP: the picture's bytes and a step's.
row() {
    "build/$preset/bench/framewire-bench" stream --only "$1" --input "$2" --threshold "$threshold" --frames "$frames" |
        sed -n "s/^$1 *\([0-9]*\) *\([0-9]*\) .*/\1 \2/p"
}

result=0
printf '%-44s %10s %10s %10s %10s %6s\n' clip exact step bounded step ratio
for clip in "$@"; do
    exact=$(row 'framewire exact' "$clip")
    bounded=$(row 'framewire bounded, effort 1' "$clip")
    awk -v clip="$(basename "$clip")" -v steps=$((frames - 1)) -v a="$exact" -v b="$bounded" 'BEGIN {
        split(a, exact); split(b, bounded)
        of_exact = exact[1] + steps * exact[2]; of_bounded = bounded[1] + steps * bounded[2]
        printf "%-44s %10d %10d %10d %10d %6.3f\n", clip, exact[1], exact[2], bounded[1], bounded[2], of_bounded / of_exact
        exit of_bounded > of_exact }' || result=1
done
exit $result
