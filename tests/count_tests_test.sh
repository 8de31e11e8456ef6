#!/usr/bin/env bash
# Tests how the gate counts: what scripts/count-tests.sh reports for programs that pass, fail, skip, crash, hang
# or do nothing.
cd "$(dirname "$0")/.." || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
result=0
cat >"$folder/may_skip" <<'END'
# a comment
kind no-clip   ^no such (clip|picture)$
no-clip        */A.C/*
no-clip        A.C
END
check() { # name, lines that the program prints, its exit status, expected last line, expected exit status, expected words, its shard
    local output status
    printf '#!/bin/sh\ncat <<END\n%b\nEND\n%s\n' "$2" "$3" >"$folder/program_tests"
    chmod +x "$folder/program_tests"
    output=$(env -u TEST_ARGS -u TEST_UNDER -u GTEST_FILTER TEST_TIMEOUT=2 TEST_MAY_SKIP="$folder/may_skip" scripts/count-tests.sh "$folder/logs" "$folder/program_tests${7:-}" 2>&1)
    status=$?
    if [ "$(tail -n 1 <<<"$output")" = "$4" ] && [ "$status" = "$5" ] && grep -qF -- "$6" <<<"$output"; then
        echo "[       OK ] CountTests.$1 (0 ms)"
    else
        printf '%s\n' "$output" | sed 's/^/    /'
        echo "[  FAILED  ] CountTests.$1 (0 ms)"
        result=1
    fi
}
passed='[ RUN      ] A.B\n[       OK ] A.B (0 ms)'
skipped='[ RUN      ] A.C\na_test.cpp:3: Skipped\nno such clip\n\n[  SKIPPED ] A.C (0 ms)\n[  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] A.C'
failed='[ RUN      ] A.D\na_test.cpp:4: Failure\nwrong\n[  FAILED  ] A.D (0 ms)\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] A.D'
check Passed "$passed" 'exit 0' '1 passed, 0 failed, 0 skipped' 0 'program_tests: 1 passed'
check SkippedWithItsReason "$passed\n$skipped" 'exit 0' '1 passed, 0 failed, 1 skipped' 0 'no such clip'
other_test=${skipped//A.C/A.E} other_reason=${skipped/no such clip/no such luck} of_many=${skipped//A.C/Each/A.C/1}
check SkippedByPattern "$passed\n$of_many" 'exit 0' '1 passed, 0 failed, 1 skipped' 0 'no such clip'
check SkippedWithoutBeingListed "$passed\n$other_test" 'exit 0' '1 passed, 1 failed, 0 skipped' 1 'not listed in tests/may-skip.txt: A.E: no such clip'
check SkippedForAnotherReason "$passed\n$other_reason" 'exit 0' '1 passed, 1 failed, 0 skipped' 1 'A.C: no such luck'
check Failed "$passed\n$failed" 'exit 1' '1 passed, 1 failed, 0 skipped' 1 'wrong'
check Crashed "$passed" 'kill -SEGV $$' '1 passed, 1 failed, 0 skipped' 1 'ended with status 139'
check Hung "$passed" 'exec sleep 60' '1 passed, 1 failed, 0 skipped' 1 'ended with status 124'
check Shard "$passed" 'echo part $GTEST_SHARD_INDEX of $GTEST_TOTAL_SHARDS: Skipped && echo nothing && exit 1' \
    '1 passed, 1 failed, 0 skipped' 1 'part 1 of 3' @2/3
check RanNoTest '[==========] 0 tests from 0 test suites ran.' 'exit 0' '0 passed, 1 failed, 0 skipped' 1 'ran no test'
exit $result
