#!/usr/bin/env bash
# count-tests.sh DIR PROGRAM...: runs GoogleTest programs one after the other, logs in DIR, and closes with the line
# 'N passed, N failed, N skipped'. A program that dies without reporting a failure counts as one, and so does one that ran no
# test, unless TEST_ARGS or GTEST_FILTER chose. Arguments of all programs may be given in TEST_ARGS, a command to run them
# under in TEST_UNDER, the most seconds that one may take in TEST_TIMEOUT. Exits 1 when anything failed or nothing passed.
set -uo pipefail
logs=$1
shift
mkdir -p "$logs"
passed=0 failed=0 skipped=0
for program in "$@"; do
    name=$(basename "$program")
    log=$logs/$name.log
    began_s=$SECONDS
    # shellcheck disable=SC2086  # both variables are lists of words
    timeout --kill-after=10 "${TEST_TIMEOUT:-900}" ${TEST_UNDER:-} "$program" ${TEST_ARGS:-} >"$log" 2>&1
    status=$?
    count() { grep -cE "$1" "$log"; }
    ok=$(count '^\[       OK \]')
    bad=$(count '^\[  FAILED  \] .* \([0-9]+ ms\)')
    skip=$(count '^\[  SKIPPED \] .* \([0-9]+ ms\)')
    if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
        bad=1
        echo "$name: ended with status $status and no failed test" | tee -a "$log"
    elif [ $((ok + bad + skip)) -eq 0 ] && [ -z "${TEST_ARGS:-}${GTEST_FILTER:-}" ]; then
        bad=1
        echo "$name: ran no test" | tee -a "$log"
    fi
    echo "$name: $ok passed, $bad failed, $skip skipped in $((SECONDS - began_s)) s"
    [ "$bad" -eq 0 ] || grep -vE '^\[ +(OK|RUN) ' "$log" | tail -n 60
    [ "$skip" -eq 0 ] || grep -hE -A2 'Skipped$' "$log" | grep -vE 'Skipped$|^--|^\[' | sort | uniq -c | sed 's/^/  skipped: /'
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
