#!/usr/bin/env bash
# Compares the components that `framewire detect` finds with known counts, for both connectivities.
# usage: scripts/experiments/component-counts.sh PROGRAM COUNTS.csv FOLDER
# COUNTS.csv has a heading and lines of file,width,height,foreground,components_4,components_8, where foreground is luma<128,
# luma>=128 or value>0 and the files, some of which are raw gray bytes (.raw), lie in FOLDER. Prints one line for each difference
# and a total; fails if there is any difference.
set -euo pipefail
[ $# -eq 3 ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
program=$1 counts=$2 folder=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

same=0 different=0
while IFS=, read -r file width height foreground want_4 want_8; do
    source=$folder/$file
    if [ "${file##*.}" != raw ]; then
        ffmpeg -loglevel error -y -i "$source" -pix_fmt gray -f rawvideo "$work/image.raw" </dev/null
        source=$work/image.raw
    fi
    # Choose a constant background and a threshold so that the difference gives the foreground: 255 - v > 127 is v < 128.
    case $foreground in
        'luma<128'*) colour=white threshold=127 ;;
        'luma>=128'* | 'value>=128') colour=black threshold=127 ;;
        'value>0') colour=black threshold=0 ;;
        *) echo "no foreground '$foreground'" >&2; exit 2 ;;
    esac
    convert -size "${width}x$height" "xc:$colour" "$work/background.png"
    for connectivity in 4 8; do
        want=$want_4
        [ $connectivity = 4 ] || want=$want_8
        got=$("$program" detect -i "raw:$source:size=${width}x$height:format=gray" --background "$work/background.png" --blur 1 --threshold $threshold --morph none \
            --min-area 1 --connectivity $connectivity --log-level error --progress none -o - </dev/null | jq '.objects | length')
        if [ "$got" = "$want" ]; then
            same=$((same + 1))
        else
            different=$((different + 1))
            echo "$file $foreground, $connectivity neighbours: $got, want $want"
        fi
    done
done < <(tail -n +2 "$counts" | tr -d '\r')
echo "$same as known, $different not"
[ $different -eq 0 ]
