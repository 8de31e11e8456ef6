#!/usr/bin/env bash
# Measures how much filters reduce a difference stream: the share of bytes that differ by more than the threshold between two pictures
# of one scene, unfiltered and after each filter, as `framewire serve` counts them. Prints a Markdown table in per cent.
#   scripts/experiments/noise-saved.sh THRESHOLD NAME=FIRST,SECOND [NAME=FIRST,SECOND...]    pictures of one size and file type
set -euo pipefail
framewire=${FRAMEWIRE:-$(dirname "$0")/../../build/dev/framewire}
# Filters of the report (figure 35 and section 6.5), and the same with smaller and larger sizes.
filters=(mean={3,5,7,9,15} gaussian={3:sigma=1,4:sigma=2,5:sigma=3,6:sigma=5,7:sigma=8} gaussian={3,5,7,9,11,13,15}
    gaussian={6,8,10}:sigma=2 median={3,5,7,9,15})
[ $# -gt 1 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
threshold=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

changed() { # PICTURES FILTERS: prints the share of the second picture's bytes that are sent, in per cent
    "$framewire" serve -y --backend cpu --log-level warning --listen 127.0.0.1:0 --rate max --threshold "$threshold" -i "$1" -f "$2" \
        --stats "$folder/stats.json"
    # `changed` also counts the first picture's bytes, which are not compared.
    awk -F '[:,]' '$1 ~ /"changed"/ {printf "%.4f\n", 200 * $2}' "$folder/stats.json"
}

row() { # NAME FILTERS: prints the shares, and in brackets the reduction compared with the unfiltered pictures
    printf '| %s |' "$1"
    for index in "${!names[@]}"; do
        share=$(changed "${pictures[index]}" "$2")
        [ -n "${unfiltered[index]:-}" ] || unfiltered[index]=$share
        awk -v now="$share" -v before="${unfiltered[index]}" \
            'BEGIN {if (now == before) printf " %.2f |", now; else printf " %.2f (%+.0f %%) |", now, 100 * (now / before - 1)}'
    done
    echo
}

names=() pictures=() unfiltered=()
for pair in "$@"; do
    IFS=, read -r first second <<<"${pair#*=}"
    name=${pair%%=*}
    mkdir "$folder/$name"
    ln -s "$(realpath "$first")" "$folder/$name/1.${first##*.}"
    ln -s "$(realpath "$second")" "$folder/$name/2.${first##*.}"
    names+=("$name") pictures+=("$folder/$name/%d.${first##*.}")
done
printf '| filter |%s\n|---|%s\n' "$(printf ' %s |' "${names[@]}")" "$(printf -- '---|%.0s' "${names[@]}")"
row none ""
for filter in "${filters[@]}"; do row "\`$filter\`" "$filter"; done
