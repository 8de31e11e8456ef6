#!/usr/bin/env bash
# Checks that scripts/reference.sh writes the reference of the public headers without a warning. Reports the way GoogleTest does.
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
result=0
check() { # NAME FUNCTION: reports one test the way GoogleTest does
    if "$2" >"$work/log" 2>&1; then
        echo "[       OK ] Reference.$1 (0 ms)"
    else
        cat "$work/log"
        echo "[  FAILED  ] Reference.$1 (0 ms)"
        result=1
    fi
}
# Tests the parts of the script that need no Doxygen.
headers_match_the_installed_ones() {
    local script=build/dev/cmake_install.cmake
    [ -s "$script" ] || { echo "$script is missing: run cmake --preset dev" && return 1; }
    diff <(grep -oE '/src/framewire/[^"]*\.hpp"' "$script" | tr -d '"' | cut -c2- | sort -u) <(scripts/reference.sh --headers | sort -u)
}
# Classes of the first and the last layer must have pages with the text of their comments.
is_generated_without_warnings() {
    local pages=build/reference/html page
    scripts/reference.sh || return 1
    for page in classframewire_1_1Error classframewire_1_1jobs_1_1DetectJob; do
        [ -s "$pages/$page.html" ] || { echo "$pages/$page.html is missing" && return 1; }
    done
    grep -q 'The only exception type' "$pages/classframewire_1_1Error.html" || { echo "the comment of the class Error is missing" && return 1; }
}
fails() { # TEXT HEADER-LINE...: fails unless the script rejects such a header with a message that contains TEXT
    local text=$1 message
    printf '%s\n' '#pragma once' '/// A namespace.' 'namespace example {' "${@:2}" '}' >"$work/example.hpp"
    message=$(scripts/reference.sh "$work/out" "$work/example.hpp" 2>&1) && { echo "the script accepted the header: $message" && return 1; }
    [[ $message == *"$text"* ]] || { echo "the script failed for another reason: $message" && return 1; }
}
passes() { # HEADER-LINE...: fails unless the script accepts such a header
    printf '%s\n' '#pragma once' '/// A namespace.' 'namespace example {' "$@" '}' >"$work/example.hpp"
    scripts/reference.sh "$work/out" "$work/example.hpp"
}
warnings_are_errors() {
    fails 'bare' 'int bare();' &&
        fails 'bare' 'inline constexpr int bare = 1;' &&
        fails 'Bare' 'class Bare {' 'public:' '    /// A function.' '    int a();' '};' &&
        fails 'bare' '/// A class.' 'class Known {' 'public:' '    int bare() const;' '};' &&
        fails 'space' '/// Calls <space>.' 'int call();' &&
        passes '/// A struct.' 'struct Known {' '    int field = 0;' '    Known(Known&&) noexcept;' '    Known& operator=(Known&&) noexcept;' \
            '    ~Known();' '    friend bool operator==(const Known&, const Known&) = default;' '};'
}
check HeadersMatchTheInstalledOnes headers_match_the_installed_ones
if ! command -v doxygen >/dev/null; then
    for name in IsGeneratedWithoutWarnings WarningsAreErrors; do
        printf '%s: Skipped\ndoxygen is missing: scripts/deps.sh tests installs it\n' "$0"
        echo "[  SKIPPED ] Reference.$name (0 ms)"
    done
    exit $result
fi
check IsGeneratedWithoutWarnings is_generated_without_warnings
check WarningsAreErrors warnings_are_errors
exit $result
