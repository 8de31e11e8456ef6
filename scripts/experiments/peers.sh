#!/usr/bin/env bash
# Whole jobs beside `ffmpeg -vf` on this machine, as a table in docs/decisions/peers.md.
#   scripts/experiments/peers.sh [VIDEO]    VIDEO: what both read; a test picture of 1080p H.264 without it
# FRAMEWIRE_PRESET (dev) is what is built; everything after -- goes to framewire-bench (--quick, --only TEXT).
# The machine should be quiet: nothing else may run on it for the half hour that this takes.
set -euo pipefail
cd "$(dirname "$0")/../.."
preset=${FRAMEWIRE_PRESET:-dev}
video=
[[ $# -gt 0 && $1 != -- ]] && { video=$(realpath "$1"); shift; }
[[ $# -gt 0 && $1 == -- ]] && shift
for needed in ffmpeg jq; do
    command -v "$needed" > /dev/null || { echo "peers.sh: there is no $needed; scripts/deps.sh installs it" >&2; exit 1; }
done

[[ -d build/$preset ]] || cmake --preset "$preset" > /dev/null
ninja -C "build/$preset" framewire framewire-bench
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
"build/$preset/bench/framewire-bench" jobs/files jobs/files-mp4 ${video:+--input "$video"} --json "$rows" "$@"

# A line for each operation: both programs' medians in ms of time and of processor time, and how they compare.
lines() {
    jq -r --arg suite "$1" '
        def ms: . / 100 | round / 10;
        [.rows[] | select(.suite == $suite)] | group_by(.operation) | sort_by(-(map(.times_peer // 0) | max))[] |
        (map(select(.runner == "framewire"))[0]) as $own | (map(select(.runner == "FFmpeg"))[0]) as $peer |
        if $own then "| \($own.operation) | \($own.median_us | ms) (\($own.low_us | ms)..\($own.high_us | ms)); \($own.cpu_us | ms) " +
            "| \($peer.median_us | ms) (\($peer.low_us | ms)..\($peer.high_us | ms)); \($peer.cpu_us | ms) " +
            "| \($own.times_peer * 100 | round / 100) |"
        else "| \($peer.operation) | - | \($peer.median_us | ms) (\($peer.low_us | ms)..\($peer.high_us | ms)); \($peer.cpu_us | ms) | - |" end' "$rows"
}

page=docs/decisions/peers.md
{
    sed '/^<!-- table -->/q' "$page"
    echo
    echo "$(lscpu | sed -n 's/^Model name: *//p'), $(nproc) cores, $(date +%Y-%m); $(ffmpeg -version | sed -n '1s/ Copyright.*//p');" \
        "$(if [[ -n $video ]]; then ffprobe -v error -select_streams v -show_entries stream=codec_name,width,height,bit_rate -of csv=p=0 "$video"; else echo "the suite's own video"; fi)."
    for suite in jobs/files jobs/files-mp4; do
        echo
        echo "| to $([[ $suite == jobs/files ]] && echo y4m || echo "H.264, veryfast"), ms per frame: time (spread); processor | framewire | FFmpeg | times as fast |"
        echo "|---|---|---|---|"
        lines "$suite"
    done
} > "$page.new"
mv "$page.new" "$page"
echo "wrote $page"
