#!/usr/bin/env bash
# Generates the list of sources in docs/sources.md from the built program.
set -euo pipefail
cd "$(dirname "$0")/.."
framewire=${FRAMEWIRE:-build/dev/framewire}
page=docs/sources.md
begin='<!-- framewire sources --markdown -->'
written=$(mktemp)
trap 'rm -f "$written"' EXIT
sed "/^$begin\$/q" "$page" >"$written"
"$framewire" sources --markdown >>"$written"
sed -n '/^<!-- end -->$/,$p' "$page" >>"$written"
cp "$written" "$page"
