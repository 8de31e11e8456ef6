#!/usr/bin/env bash
# The main job in one go: installs what is missing, builds framewire, serves the synthetic camera to two viewers for ten
# seconds and shows what came of it: a table, and in demo-out/viewer.png the picture that a third viewer, come late, saw.
#   scripts/demo.sh [--stay]    --stay goes on serving afterwards, until Ctrl-C: a page at http://127.0.0.1:7878/
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

jq -r --slurpfile first "$out/viewer-1.json" --slurpfile second "$out/viewer-2.json" '
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
        ["PSNR", (.psnr * 10 | round / 10 | tostring) + " dB"]
    ] | .[] | @tsv' "$out/server.json" | awk -F'\t' '{printf "  %-24s %s\n", $1, $2}' | tee "$out/table.txt"
echo "what a viewer saw: $out/viewer.png"

[ -z "$stay" ] || {
    echo "serving until Ctrl-C; open http://127.0.0.1:7878/ in a browser, or look with: $program view tcp://127.0.0.1:7878"
    exec "$program" serve -i "$source" --listen 127.0.0.1:7878 --detect --panel --record-dir "$out"
}
