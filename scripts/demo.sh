#!/usr/bin/env bash
# Demonstrates the main job: installs what is missing, builds framewire, serves the synthetic camera to two viewers for ten seconds
# and shows the results: a table, and in demo-out/viewer.png the picture that a third, late viewer saw.
# The table's last rows are for H.264: the same frames by x264 at the stream's PSNR or better, with their largest error.
#   scripts/demo.sh [--stay]    --stay continues to serve afterwards, until Ctrl-C: a page at http://127.0.0.1:7878/
set -euo pipefail
cd "$(dirname "$0")/.."
stay=
case "${1:-}" in
    "") ;;
    --stay) stay=1 ;;
    *) echo "demo.sh: no option '$1'; allowed is --stay" >&2; exit 2 ;;
esac

scripts/deps.sh
cmake --preset dev >/dev/null
ninja -C build/dev framewire
program=build/dev/framewire
out=demo-out
rm -rf "$out"
mkdir -p "$out"

source="synth:size=1280x720:fps=30:noise=4:objects=5:seed=1"
frames=300
children=()
trap 'for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done' EXIT

echo "serving ten seconds of $source, threshold 20, to two viewers ..."
"$program" serve -i "$source" --listen 127.0.0.1:0 --wait 2 --frames $frames --stats "$out/server.json" --progress none \
    2>"$out/server.log" &
server=$!
children+=("$server")
for _ in $(seq 100); do
    address=$(grep -oE 'tcp://127\.0\.0\.1:[0-9]+' "$out/server.log" | head -n 1 || true)
    [ -z "$address" ] || break
    sleep 0.1
done
[ -n "$address" ] || { echo "demo.sh: the server did not start:" >&2; cat "$out/server.log" >&2; exit 1; }

viewers=()
for viewer in 1 2; do
    "$program" view "$address" --no-window --stats "$out/viewer-$viewer.json" --progress none 2>"$out/viewer-$viewer.log" &
    viewers+=("$!")
    children+=("$!")
done
sleep 8
"$program" view "$address" --no-window --frames 1 -o "$out/viewer.png" --progress none 2>"$out/late-viewer.log" &
viewers+=("$!")
children+=("$!")
for child in "$server" "${viewers[@]}"; do
    wait "$child" || { echo "demo.sh: a part of the demo failed:" >&2; cat "$out"/*.log >&2; exit 1; }
done
children=()

# Raw frames of the source, in the format for ffmpeg.
raw_frames() { "$program" run -i "$source" --frames $frames -o -:format=bgr --progress none 2>/dev/null; }
raw=(-f rawvideo -pix_fmt bgr24 -video_size 1280x720 -framerate 30 -i -)
echo "encoding the same frames with x264 until its PSNR is the stream's ..."
wanted=$(jq .psnr "$out/server.json")
for crf in 32 30 28 26 24 22 20 18; do
    raw_frames | ffmpeg -v error -y "${raw[@]}" -c:v libx264 -preset veryfast -tune zerolatency -pix_fmt yuv420p -crf $crf "$out/h264.mp4"
    # PSNR over all bytes; maximum over all frames of the difference of each byte.
    raw_frames | ffmpeg -hide_banner -nostats -y "${raw[@]}" -i "$out/h264.mp4" -lavfi \
        "[0]format=gbrp,split[a][c];[1]format=gbrp,split[b][d];[a][b]psnr[p];[c][d]blend=all_mode=difference,lagfun=decay=1[m]" \
        -map '[p]' -f null - -map '[m]' -update 1 -f image2 -c:v rawvideo -pix_fmt bgr24 "$out/h264-differences" 2>"$out/h264.log"
    h264_psnr=$(grep -oE 'average:[0-9.]+' "$out/h264.log" | tail -n 1 | cut -d: -f2)
    awk "BEGIN { exit !($h264_psnr >= $wanted) }" && break
done
h264_error=$(od -An -v -tu1 -w1 "$out/h264-differences" | sort -n | tail -n 1 | tr -d ' ')
rm "$out/h264-differences"

jq -r --argjson h264_bytes "$(stat -c %s "$out/h264.mp4")" --argjson h264_psnr "$h264_psnr" --argjson h264_error "$h264_error" \
    --slurpfile first "$out/viewer-1.json" --slurpfile second "$out/viewer-2.json" '
    def mbit(bytes): (bytes * 8 / .seconds / 1e6 * 100 | round / 100 | tostring) + " Mbit/s";
    def share(bytes): (bytes / .raw_bytes * 10000 | round / 100 | tostring) + " % of raw";
    [
        ["backend", .backend],
        ["frames", "\(.frames) sent, \($first[0].frames) and \($second[0].frames) seen"],
        ["frames a second", (.fps * 10 | round / 10 | tostring)],
        ["raw video", mbit(.raw_bytes)],
        ["the report'"'"'s format", mbit(.report_bytes) + ", " + share(.report_bytes)],
        ["framewire, each viewer", mbit(.sent_bytes) + ", " + share(.sent_bytes)],
        ["bytes changed", (.changed * 10000 | round / 100 | tostring) + " %"],
        ["largest error", "\(.max_error) of 20 allowed"],
        ["PSNR", (.psnr * 10 | round / 10 | tostring) + " dB"],
        ["H.264 (x264 veryfast)", mbit($h264_bytes) + ", " + share($h264_bytes)],
        ["  its largest error", "\($h264_error), no bound"],
        ["  its PSNR", ($h264_psnr * 10 | round / 10 | tostring) + " dB"]
    ] | .[] | @tsv' "$out/server.json" | awk -F'\t' '{printf "  %-24s %s\n", $1, $2}' | tee "$out/table.txt"
echo "what a viewer saw: $out/viewer.png"

[ -z "$stay" ] || {
    echo "serving until Ctrl-C; open http://127.0.0.1:7878/ in a browser, or look with: $program view tcp://127.0.0.1:7878"
    exec "$program" serve -i "$source" --listen 127.0.0.1:7878 --detect --panel --record-dir "$out"
}
