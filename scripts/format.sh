#!/usr/bin/env bash
# Formats all sources with .clang-format; with --check, prints the lines that it would change and exits with 1.
# CLANG_FORMAT names another binary. Releases format differently; the reference is release 14 from Debian 12.
set -euo pipefail
cd "$(dirname "$0")/.."
sources() { git ls-files -z -- '*.cpp' '*.hpp' '*.cu' '*.cuh' '*.h' '*.c'; }
case ${1:-} in
    '') sources | xargs -0 -r "${CLANG_FORMAT:-clang-format}" -i ;;
    --check) sources | xargs -0 -r -P "$(nproc)" -n 64 "${CLANG_FORMAT:-clang-format}" --dry-run -Werror ;;
    *)
        echo "usage: format.sh [--check]" >&2
        exit 2
        ;;
esac
