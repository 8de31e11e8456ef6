#!/usr/bin/env bash
# The first thing to run on a fresh clone: installs and builds only what it needs (the preset demo), serves the synthetic camera to
# two viewers for ten seconds and prints a table of the stream's bytes. demo-out/viewer.png is the frame that a third viewer
# received, which connected late.
#   scripts/demo.sh [--stay] [--cuda] [--h264]
#     --stay    then serves the camera until Ctrl-C, with a page at http://127.0.0.1:7878/
#     --cuda    builds the GPU backend, and fails without a CUDA toolkit. Default: if there is an NVIDIA GPU and a toolkit
#     --h264    adds rows about H.264: the same frames by x264 at the stream's PSNR or better, with their largest error. Needs
#               ffmpeg, and takes about a minute
set -euo pipefail
cd "$(dirname "$0")/.."
stay=
with_h264=
cuda=OFF
if [ -e /dev/nvidia0 ] || nvidia-smi -L >/dev/null 2>&1; then cuda=AUTO; fi
for option in "$@"; do
    case $option in
        --stay) stay=1 ;;
        --cuda) cuda=ON ;;
        --h264) with_h264=1 ;;
        *) echo "demo.sh: no option '$option'; allowed: --stay, --cuda and --h264" >&2; exit 2 ;;
    esac
done
if [ -n "$with_h264" ] && ! grep -q '^Encoder libx264' <<<"$(ffmpeg -v error -h encoder=libx264 2>/dev/null)"; then
    echo "demo.sh: --h264 needs ffmpeg with libx264 (apt-get install ffmpeg)" >&2
    exit 69
fi

scripts/deps.sh demo
cmake --preset demo -DFRAMEWIRE_CUDA=$cuda >/dev/null
ninja -C build/demo framewire
program=build/demo/framewire
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

# Sets h264, the JSON of the table's last rows, to the bytes, the PSNR and the largest error of the first x264 file whose PSNR
# reaches the stream's.
compare_with_h264() {
    # Prints raw frames of the source in a form that ffmpeg reads.
    raw_frames() { "$program" run -i "$source" --frames $frames -o -:format=bgr --progress none 2>/dev/null; }
    local raw=(-f rawvideo -pix_fmt bgr24 -video_size 1280x720 -framerate 30 -i -)
    local wanted crf psnr error
    echo "encoding the same frames with x264 until its PSNR is the stream's ..."
    wanted=$(jq .psnr "$out/server.json")
    for crf in 32 30 28 26 24 22 20 18; do
        raw_frames | ffmpeg -v error -y "${raw[@]}" -c:v libx264 -preset veryfast -tune zerolatency -pix_fmt yuv420p -crf $crf "$out/h264.mp4"
        # Compute the PSNR over all bytes, and for each byte position the largest difference in any frame.
        raw_frames | ffmpeg -hide_banner -nostats -y "${raw[@]}" -i "$out/h264.mp4" -lavfi \
            "[0]format=gbrp,split[a][c];[1]format=gbrp,split[b][d];[a][b]psnr[p];[c][d]blend=all_mode=difference,lagfun=decay=1[m]" \
            -map '[p]' -f null - -map '[m]' -update 1 -f image2 -c:v rawvideo -pix_fmt bgr24 "$out/h264-differences" 2>"$out/h264.log"
        psnr=$(grep -oE 'average:[0-9.]+' "$out/h264.log" | tail -n 1 | cut -d: -f2)
        awk "BEGIN { exit !($psnr >= $wanted) }" && break
    done
    error=$(od -An -v -tu1 -w1 "$out/h264-differences" | sort -n | tail -n 1 | tr -d ' ')
    rm "$out/h264-differences"
    h264="{\"bytes\": $(stat -c %s "$out/h264.mp4"), \"psnr\": $psnr, \"error\": $error}"
}
h264=null
if [ -n "$with_h264" ]; then compare_with_h264; fi

jq -r --argjson h264 "$h264" --slurpfile first "$out/viewer-1.json" --slurpfile second "$out/viewer-2.json" '
    def mbit(bytes): (bytes * 8 / .seconds / 1e6 * 100 | round / 100 | tostring) + " Mbit/s";
    def share(bytes): (bytes / .raw_bytes * 10000 | round / 100 | tostring) + " % of raw";
    [
        ["backend", .backend],
        ["frames", "\(.frames) sent, \($first[0].frames) and \($second[0].frames) seen"],
        ["frames per second", (.fps * 10 | round / 10 | tostring)],
        ["raw video", mbit(.raw_bytes)],
        ["the report'"'"'s format", mbit(.report_bytes) + ", " + share(.report_bytes)],
        ["framewire, each viewer", mbit(.sent_bytes) + ", " + share(.sent_bytes)],
        ["bytes changed", (.changed * 10000 | round / 100 | tostring) + " %"],
        ["largest error", "\(.max_error) of 20 allowed"],
        ["PSNR", (.psnr * 10 | round / 10 | tostring) + " dB"]
    ] + (if $h264 then [
        ["H.264 (x264 veryfast)", mbit($h264.bytes) + ", " + share($h264.bytes)],
        ["  its largest error", "\($h264.error), no bound"],
        ["  its PSNR", ($h264.psnr * 10 | round / 10 | tostring) + " dB"]
    ] else [["H.264", "compared with --h264"]] end) | .[] | @tsv' "$out/server.json" | awk -F'\t' '{printf "  %-24s %s\n", $1, $2}' | tee "$out/table.txt"
echo "what the late viewer got: $out/viewer.png"
echo "the program is $program, without FFmpeg and the window; 'make program' builds everything"

if [ -z "$stay" ]; then
    echo "for a page with the camera live: scripts/demo.sh --stay"
    exit
fi
echo
echo "the page: http://127.0.0.1:7878/ (Ctrl-C ends the server)"
exec "$program" serve -i "$source" --listen 127.0.0.1:7878 --detect --controls --record-dir "$out"
