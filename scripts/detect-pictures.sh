#!/usr/bin/env bash
# Draws the pictures in docs/detect/pictures from the built program: a frame of a generated scene beside the masks that the
# backgrounds make of it, from left to right the frame, adaptive, mixture, and the report's chain. Needs ffmpeg.
#   scripts/detect-pictures.sh [NAME...]    draws only these; default: all
set -euo pipefail
cd "$(dirname "$0")/.."
framewire=${FRAMEWIRE:-build/dev/framewire}
pictures=docs/detect/pictures
moment=150
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$pictures"

scene() { # NAME: writes the scene's frames to scene.mkv, without loss
    local room=synth:size=264x156:fps=30:objects=3:seed=4:frames=$moment
    local turn='crop=240:136:12+2*sin(2*PI*n/30):10+1.5*sin(2*PI*n/17)'
    case $1 in
    quiet) "$framewire" run -y --log-level warning -i "$room:noise=3" -o "$folder/room.mkv" && turn=crop=240:136:12:10 ;;
    noise) "$framewire" run -y --log-level warning -i "$room:noise=12" -o "$folder/room.mkv" && turn=crop=240:136:12:10 ;;
    shaking) "$framewire" run -y --log-level warning -i "$room:noise=3" -o "$folder/room.mkv" ;;
    *) echo "detect-pictures.sh: there is no scene '$1'" >&2 && exit 2 ;;
    esac
    ffmpeg -loglevel error -y -i "$folder/room.mkv" -vf "$turn" -c:v ffv1 "$folder/scene.mkv"
}

mask() { # NAME OPTIONS...: writes the masks of the scene to NAME.mkv
    local name=$1 && shift
    "$framewire" detect -y --backend cpu --log-level warning -i "$folder/scene.mkv" -o "$folder/objects.jsonl" \
        --mask "$folder/$name.mkv" "$@"
}

[ $# -gt 0 ] || set -- quiet noise shaking
for name in "$@"; do
    scene "$name"
    mask adaptive --background adaptive
    mask mixture --background mixture
    mask report --method report
    last="select=eq(n\,$((moment - 1))),format=rgb24,pad=iw+4:ih:0:0:white"
    ffmpeg -loglevel error -y -i "$folder/scene.mkv" -i "$folder/adaptive.mkv" -i "$folder/mixture.mkv" -i "$folder/report.mkv" \
        -filter_complex "[0:v]$last[a];[1:v]$last[b];[2:v]$last[c];[3:v]$last[d];[a][b][c][d]hstack=4" \
        -frames:v 1 -q:v 3 "$pictures/$name.jpg"
done
