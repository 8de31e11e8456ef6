#!/usr/bin/env bash
# Checks that all sources are formatted with .clang-format. Reports the way GoogleTest does.
cd "$(dirname "$0")/.." || exit 1
if scripts/format.sh --check 2>&1; then
    echo "[       OK ] Format.SourcesAreFormatted (0 ms)"
else
    echo "run scripts/format.sh to fix this"
    echo "[  FAILED  ] Format.SourcesAreFormatted (0 ms)"
    exit 1
fi
