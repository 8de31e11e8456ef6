#!/usr/bin/env bash
# What the modes exact and bounded take on clips beside bitmaps and differences under zstd -3: bytes per step, a sixtieth of the
# first picture included, and shares of that.
#   scripts/experiments/bounded-beside-exact.sh THRESHOLD FRAMES CLIP...
# A clip may be a folder of pictures. FRAMEWIRE_PRESET (dev) is what is built. The last line has geometric means. Ends with 1 where
# bounded takes more than exact.
set -euo pipefail
[ $# -ge 3 ] || {
    sed -n '2,6s/^# *//p' "$0" >&2
    exit 2
}
threshold=$1 frames=$2
shift 2
preset=${FRAMEWIRE_PRESET:-dev}
cd "$(dirname "$0")/../.."
[ -f "build/$preset/build.ninja" ] || cmake --preset "$preset" >/dev/null
ninja -C "build/$preset" framewire-bench >/dev/null

# NAME CLIP: the picture's bytes and a step's.
row() {
    "build/$preset/bench/framewire-bench" peers/stream --only "$1" --input "$2" --threshold "$threshold" --frames "$frames" |
        sed -n "s/^$1 *\([0-9]*\) *\([0-9]*\) .*/\1 \2/p"
}

printf '%-44s %10s %10s %10s %8s %8s\n' clip before exact bounded exact bounded
for clip in "$@"; do
    before=$(row 'bitmap and differences, zstd -3' "$clip")
    exact=$(row 'framewire exact' "$clip")
    bounded=$(row 'framewire bounded, effort 1' "$clip")
    echo "$(basename "$clip")" $before $exact $bounded
done | awk '{
        before = $2 / 60 + $3; exact = $4 / 60 + $5; bounded = $6 / 60 + $7
        printf "%-44s %10d %10d %10d %8.3f %8.3f\n", $1, before, exact, bounded, exact / before, bounded / before
        fflush()
        of_exact += log(exact / before); of_bounded += log(bounded / before); larger += bounded > exact
    } END {
        printf "%-44s %10s %10s %10s %8.3f %8.3f\n", "geometric mean", 1, "", "", exp(of_exact / NR), exp(of_bounded / NR)
        exit larger > 0 }'
