#!/usr/bin/env bash
# Tests the browser code: the stream's module and session in node, and the page in Debian's Chromium against the real
# server. Reports the way GoogleTest does. The arguments may name test files to run; default: all.
cd "$(dirname "$0")/.." || exit 1
[ $# -gt 0 ] || set -- web/stream/tests/*.test.js web/tests/*.test.js
# Runs one file after the other, because each uses all available cores.
status=0
for file; do
    timeout --kill-after=5 600 node --test-reporter=./web/tests/kit/gtest_reporter.js --test-reporter-destination=stdout "$file" || status=1
done
exit $status
