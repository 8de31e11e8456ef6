#!/usr/bin/env bash
# Checks that the benches compile, which no other target builds, and that their own checks pass; nothing is timed. Other
# tests run at the same time, but many of them wait more than they compute. Reports the way GoogleTest does.
cd "$(dirname "$0")/.." || exit 1
build=build/dev
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
result=0
report() { # NAME STATUS: reports one test the way GoogleTest does
    if [ "$2" -eq 0 ]; then
        echo "[       OK ] Benches.$1 (0 ms)"
    else
        tail -n 40 "$work/log"
        echo "[  FAILED  ] Benches.$1 (0 ms)"
        result=1
    fi
}

ninja -C $build framewire framewire-bench opencv-detection-curve train-models >"$work/log" 2>&1
report Compile $?
[ $result -eq 0 ] || exit 1

# The subcommand must pass every argument on, and the usage text must list each group.
$build/framewire bench --help >"$work/log" 2>&1 && $build/framewire bench --list >>"$work/log" 2>&1
status=$?
for group in operations ladders peers jobs capacity limits proofs; do
    grep -q "^  $group " "$work/log" && grep -q "^$group/" "$work/log" || status=1
done
report GroupsAreListed $status

$build/framewire bench ladders limits --check --json "$work/rows.json" >"$work/log" 2>&1 &&
    jq -e '.options.check and .machine.cores > 0 and .failures == [] and ([.rows[].group] | unique == ["ladders", "limits"])' \
        "$work/rows.json" >>"$work/log"
report LaddersAndLimitsAreCorrect $?

# One camera of each kind of run: as fast as it goes, and at its rate. The last row has the answer.
$build/framewire bench capacity --check --fps 5 --json "$work/capacity.json" -- --threshold 12 >"$work/log" 2>&1 &&
    jq -e '.failures == [] and ([.rows[].operation] | index("CPU") and index("network") and index("whole job")) and
        (.rows[-1].details | .job == "serve --threshold 12" and (.predicted | tonumber) > 0)' "$work/capacity.json" >>"$work/log"
report CapacityIsPredicted $?

$build/framewire bench capacity --check -- --rate max >"$work/log" 2>&1
[ $? -eq 2 ] && grep -q "capacity sets --rate" "$work/log"
report CapacitySetsTheRateItself $?

$build/framewire bench no-such-group >"$work/log" 2>&1
[ $? -eq 2 ] && grep -q "'no-such-group'" "$work/log"
report UnknownGroupIsRejected $?

cp $build/framewire "$work/"
"$work/framewire" bench --list >"$work/log" 2>&1
[ $? -eq 78 ] && grep -q "framewire-bench" "$work/log"
report MissingProgramIsReported $?

# Checks that a bench reports builds without optimisation, of type Debug, or with sanitizers.
flaw_of() { # FLAGS...: prints what a program compiled with these flags reports about itself
    echo '#include "kit/build.hpp"
#include <cstdio>
int main() { std::puts(framewire::bench::build_flaw().c_str()); }' >"$work/flaw.cpp"
    c++ -std=c++20 -Ibench "$@" "$work/flaw.cpp" bench/kit/build.cpp -o "$work/flaw" && "$work/flaw"
}
{
    flaw_of -O0 '-DFRAMEWIRE_BUILD_TYPE="Dev"' '-DFRAMEWIRE_SANITIZE=""'
    flaw_of -O2 '-DFRAMEWIRE_BUILD_TYPE="Debug"' '-DFRAMEWIRE_SANITIZE=""'
    flaw_of -O2 '-DFRAMEWIRE_BUILD_TYPE="Dev"' '-DFRAMEWIRE_SANITIZE="thread"'
    flaw_of -O2 '-DFRAMEWIRE_BUILD_TYPE="Dev"' '-DFRAMEWIRE_SANITIZE=""'
} >"$work/log" 2>&1
cp "$work/log" "$work/said"
diff - "$work/said" >>"$work/log" <<'WANT'
it was compiled without optimisation
its build type is Debug
it was built with sanitizers (thread)

WANT
report UnsuitableBuildsAreReported $?
exit $result
