#!/usr/bin/env bash
# Writes the reference of the public headers as HTML, and fails if Doxygen warns about comments that it cannot parse or
# about classes, functions, types and constants without a comment. Comments are optional on fields of structs, which the
# comment of the struct may explain, and on copying, moving, destroying and comparing.
#   scripts/reference.sh [OUT [HEADER...]]     default: build/reference, and the headers that are installed
#   scripts/reference.sh --headers             prints the headers that are installed
# Exits with 1 on warnings and with 77 if Doxygen is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

public_headers() { # prints the headers after HEADERS in the calls of framewire_library()
    local list
    for list in src/framewire/*/CMakeLists.txt; do
        awk -v folder="${list%/*}" '
            /^framewire_library\(/ { inside = 1 }
            inside {
                last = /\)[[:space:]]*$/
                gsub(/[()]/, " ")
                for (i = 1; i <= NF; ++i)
                    if ($i ~ /^[A-Z_]+$/) wanted = $i == "HEADERS"
                    else if (wanted) print folder "/" $i
                if (last) inside = wanted = 0
            }' "$list"
    done
}

if [ "${1:-}" = --headers ]; then
    public_headers
    exit
fi
command -v doxygen >/dev/null || {
    echo "reference.sh: there is no doxygen; scripts/deps.sh tests installs it" >&2
    exit 77
}
out=${1:-build/reference}
if [ $# -gt 1 ]; then
    inputs=("${@:2}")
else
    mapfile -t inputs < <(public_headers)
    inputs+=(src/framewire/framewire.h docs/reference.dox) # the C interface and the first page
fi
[ ${#inputs[@]} -gt 1 ] || [ $# -gt 1 ] || { echo "reference.sh: there are no public headers" >&2 && exit 1; }
rm -rf "$out/html"
mkdir -p "$out"

status=0
{
    cat docs/Doxyfile
    echo "PROJECT_NUMBER = $(head -n 1 VERSION)"
    echo "OUTPUT_DIRECTORY = \"$out\""
    printf 'INPUT += "%s"\n' "${inputs[@]}"
} | doxygen - 2>"$out/log" || status=$?
not_asked='\(variable\) of struct|\(friend\) of|Member (~|operator(=|==|<=>)\(|(\w+)\((const \3 &|\3 &&))'
warnings=$({ grep -vE "$not_asked" "$out/log" || [ $? -eq 1 ]; } | sed "s|^$PWD/||" | sort -u)
if [ -n "$warnings" ] || [ "$status" -ne 0 ]; then
    printf '%s\n' "$warnings" >&2
    echo "reference.sh: doxygen ended with status $status and gave the warnings above" >&2
    exit 1
fi
echo "$out/html/index.html"
