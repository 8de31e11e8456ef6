#!/usr/bin/env bash
# Compares the modes exact and bounded on clips with bitmaps and differences under zstd -3: bytes per delta frame, including a sixtieth
# of the keyframe, and their ratios.
#   scripts/experiments/bounded-beside-exact.sh THRESHOLD FRAMES CLIP...
# A clip may be a folder of pictures. FRAMEWIRE_PRESET (dev) is the preset to build. The last line has geometric means. Exits with 1 if
# bounded needs more bytes than exact.
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

# NAME CLIP: prints the bytes of the keyframe and of a delta frame.
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
