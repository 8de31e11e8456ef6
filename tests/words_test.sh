#!/usr/bin/env bash
# Checks that code, tests, scripts and documents do not use the words in tests/retired-words.txt, which also lists what to
# use instead. The changelog is not checked. Reports the way GoogleTest does.
cd "$(dirname "$0")/.." || exit 1
result=0
check() { # NAME FINDINGS: reports one test the way GoogleTest does; it fails if there are findings
    if [ -z "$2" ]; then
        echo "[       OK ] RetiredWords.$1 (0 ms)"
    else
        printf '%s\n' "$2"
        echo "[  FAILED  ] RetiredWords.$1 (0 ms)"
        result=1
    fi
}
sources=('*.cpp' '*.hpp' '*.cu' '*.cuh' '*.h' '*.c' '*.js')
scripts=('*.sh' '*.py' '*.cmake' '*CMakeLists.txt')
uses_of() { # PATTERN GLOB...: prints FILE:LINE:USE for each match in the project's files
    local pattern=$1
    shift
    git ls-files -z --cached --others --exclude-standard -- "$@" ':!CHANGELOG.md' | xargs -0 -r grep -sHnoE -e "$pattern"
}

invalid=
while IFS=$'\t' read -r name pattern example instead; do
    if [ -z "$instead" ] || ! grep -qE -e "$pattern" <<<"$example"; then
        invalid+="$name: a column is missing, or the pattern does not match its example"$'\n'
    fi
    if [ "$name" = Opening ]; then
        uses=$(uses_of "//+<?[[:space:]]*$pattern" "${sources[@]}"
            uses_of "((^|[[:space:]])#[[:space:]]+|\"\"\")$pattern" "${scripts[@]}")
    else
        uses=$(uses_of "$pattern" "${sources[@]}" "${scripts[@]}" '*.md')
    fi
    check "$name" "${uses:+$(sed "s|\$| -> $instead|" <<<"$uses")}"
done < <(grep -vE '^(#|$)' tests/retired-words.txt)
check ListIsValid "$invalid"
exit $result
