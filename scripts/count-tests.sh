#!/usr/bin/env bash
# count-tests.sh DIR PROGRAM...: runs GoogleTest programs, writes logs to DIR, and ends with the line 'N passed, N failed, N skipped'.
# DIR/skipped.txt lists each skipped test with its reason.
# PROGRAM@2/3 is the second of three shards of its tests, which may run beside the others.
# A skipped test counts as failed unless tests/may-skip.txt (TEST_MAY_SKIP) lists it with the reason that it reports.
# A program that dies without reporting a failure counts as one failure, and so does one that ran no test, unless TEST_ARGS or
# GTEST_FILTER selected tests. TEST_ARGS are arguments for all programs, TEST_UNDER is a command to run them under, TEST_TIMEOUT the
# time limit of each in seconds, TEST_JOBS (1) the number of programs at a time. Exits with 1 if anything failed or nothing
# passed.
set -uo pipefail
export logs=$1
shift
may_skip=${TEST_MAY_SKIP:-$(dirname "$0")/../tests/may-skip.txt}
export may_skip
mkdir -p "$logs"
: >"$logs/skipped.txt"
counts=$(mktemp -d)
export counts
trap 'rm -rf "$counts"' EXIT

skips() { # LOG: prints TEST, a tab and the reported reason of each skipped test
    awk '/: Skipped$/ { getline; reason = $0 }
         /^\[  SKIPPED \] .* \([0-9]+ ms\)$/ { print $4 "\t" reason; reason = "" }' "$1"
}
unexpected_skips() { # LOG: prints 'TEST: REASON' of each skipped test that is not in the list
    local kind pattern test reason expected
    local -A reasons=()
    local -a patterns=()
    while read -r kind pattern reason; do
        case $kind in
            '' | '#'*) ;;
            kind) reasons[$pattern]=$reason ;;
            *) patterns+=("$kind $pattern") ;;
        esac
    done < <(sed 's/^\(kind  *[^ ]*\)  */\1 /' "$may_skip")
    while IFS=$'\t' read -r test reason; do
        expected=
        for pattern in "${patterns[@]}"; do
            kind=${pattern%% *}
            # shellcheck disable=SC2053  # a pattern on purpose
            if [[ $test == ${pattern#* } && $reason =~ ${reasons[$kind]:?the list has no kind $kind} ]]; then
                expected=1
                break
            fi
        done
        [ -n "$expected" ] || echo "$test: $reason"
    done < <(skips "$1")
}
export -f skips unexpected_skips

run_tests() { # PROGRAM[@SHARD/SHARDS]: prints the result to standard output in one write, and adds it to $counts
    local program=${1%@*} name log began_s status ok bad skip unexpected
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
    unexpected=$([ "$skip" -eq 0 ] || unexpected_skips "$log")
    exec 9>"$counts/lock"
    flock 9
    if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
        bad=1
        echo "$name: ended with status $status and no failed test" | tee -a "$log"
    elif [ $((ok + bad + skip)) -eq 0 ] && [ -z "${TEST_ARGS:-}${GTEST_FILTER:-}" ]; then
        bad=1
        echo "$name: ran no test" | tee -a "$log"
    fi
    if [ -n "$unexpected" ]; then
        local many
        many=$(wc -l <<<"$unexpected")
        skip=$((skip - many)) bad=$((bad + many))
        while read -r unexpected; do
            echo "$name: skipped, but not listed in tests/may-skip.txt: $unexpected"
        done <<<"$unexpected" | tee -a "$log"
    fi
    echo "$name: $ok passed, $bad failed, $skip skipped in $((SECONDS - began_s)) s"
    [ "$bad" -eq 0 ] || grep -vE '^\[ +(OK|RUN) ' "$log" | tail -n 60
    [ "$skip" -eq 0 ] || grep -hE -A2 'Skipped$' "$log" | grep -vE 'Skipped$|^--|^\[' | sort | uniq -c | sed 's/^/  skipped: /'
    skips "$log" >>"$logs/skipped.txt"
    echo "$ok $bad $skip" >>"$counts/all"
}
export -f run_tests

printf '%s\0' "$@" | xargs -0 -P "${TEST_JOBS:-1}" -I '{}' bash -c 'run_tests "$1"' run_tests '{}'
passed=0 failed=0 skipped=0 programs=0
while read -r ok bad skip; do
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip)) programs=$((programs + 1))
done <"$counts/all"
failed=$((failed + $# - programs)) # programs without any result
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
