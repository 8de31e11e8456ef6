#!/usr/bin/env bash
# count-tests.sh DIR PROGRAM...: runs GoogleTest programs, logs in DIR, and closes with the line 'N passed, N failed, N skipped'.
# PROGRAM@2/3 is the second of three parts of its tests, which may run beside the others.
# A program that dies without reporting a failure counts as one, and so does one that ran no test, unless TEST_ARGS or
# GTEST_FILTER chose. Arguments of all programs may be given in TEST_ARGS, a command to run them under in TEST_UNDER, the most
# seconds that one may take in TEST_TIMEOUT, how many run at a time in TEST_JOBS (1). Exits 1 when anything failed or nothing
# passed.
set -uo pipefail
export logs=$1
shift
mkdir -p "$logs"
counts=$(mktemp -d)
export counts
trap 'rm -rf "$counts"' EXIT

run_tests() { # PROGRAM[@PART/PARTS]: what it came to goes to standard output, in one piece, and into $counts
    local program=${1%@*} name log began_s status ok bad skip
    name=$(basename "$program")
    if [ "$program" != "$1" ]; then
        local part=${1##*@}
        export GTEST_SHARD_INDEX=$((${part%/*} - 1)) GTEST_TOTAL_SHARDS=${part#*/}
        name+=-${part%/*}of${part#*/}
    fi
    log=$logs/$name.log
    began_s=$SECONDS
    # shellcheck disable=SC2086  # both variables are lists of words
    timeout --kill-after=10 "${TEST_TIMEOUT:-900}" ${TEST_UNDER:-} "$program" ${TEST_ARGS:-} >"$log" 2>&1
    status=$?
    count() { grep -cE "$1" "$log"; }
    ok=$(count '^\[       OK \]')
    bad=$(count '^\[  FAILED  \] .* \([0-9]+ ms\)')
    skip=$(count '^\[  SKIPPED \] .* \([0-9]+ ms\)')
    exec 9>"$counts/lock"
    flock 9
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
    echo "$ok $bad $skip" >>"$counts/all"
}
export -f run_tests

printf '%s\0' "$@" | xargs -0 -P "${TEST_JOBS:-1}" -I '{}' bash -c 'run_tests "$1"' run_tests '{}'
passed=0 failed=0 skipped=0 programs=0
while read -r ok bad skip; do
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip)) programs=$((programs + 1))
done <"$counts/all"
failed=$((failed + $# - programs)) # those that came to nothing at all
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
