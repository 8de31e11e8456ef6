#!/usr/bin/env bash
# Generates docs/filters from the built program: a page and a picture for each filter, and a list of all filters. The pictures show
# the same moment of the synthetic camera, before and after the first of the filter's examples.
#   scripts/filter-docs.sh [NAME...]    redraws only these filters' pictures; default: all
set -euo pipefail
cd "$(dirname "$0")/.."
framewire=${FRAMEWIRE:-build/dev/framewire}
docs=docs/filters
moment=31
camera=synth:size=336x188:fps=10:objects=5:seed=1:noise=5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$docs/pictures"

draw() { # NAME CHAIN: draws the moment's frame through the chain
    "$framewire" run --backend cpu --log-level warning -i "$camera" -f "$2" -o "$folder/%04d.jpg" --frames "$moment"
    # shellcheck disable=SC2012  # plain numbers
    cp "$folder/$(ls "$folder" | tail -n 1)" "$docs/pictures/$1.jpg"
    rm "$folder"/*.jpg
}

"$framewire" filters --markdown >"$docs/README.md"
mapfile -t names < <(sed -n 's/^| \[\(.*\)\](.*$/\1/p' "$docs/README.md")
for name in "${names[@]}"; do "$framewire" filters "$name" --markdown >"$docs/$name.md"; done
[ $# -gt 0 ] && names=("$@") || draw before ""
for name in "${names[@]}"; do
    chain=$(sed -n 's/^| before | `\(.*\)` |$/\1/p' "$docs/$name.md")
    draw "$name" "$chain"
done
