#!/usr/bin/env bash
# Compares this tree's speed with another revision's: both are built and measured in turn, so that other load on the machine
# affects both alike.
#   scripts/bench-compare.sh REV [GROUPS OPTIONS...]    as for framewire bench; default: operations --quick
# FRAMEWIRE_PRESET (dev) is the preset of both builds, FRAMEWIRE_TURNS (3) the number of measurements of each. The other revision is
# checked out in a git worktree below the build folder and is kept there for the next run. Prints the minimum times of each row over
# all turns, and marks ratios that exceed the variation between turns of one program.
set -euo pipefail
[ $# -ge 1 ] || {
    sed -n '2,8s/^# *//p' "$0" >&2
    exit 2
}
cd "$(dirname "$0")/.."
preset=${FRAMEWIRE_PRESET:-dev} turns=${FRAMEWIRE_TURNS:-3}
[ "$turns" -ge 3 ] || {
    echo "bench-compare.sh: FRAMEWIRE_TURNS is $turns; three at least tell what turns differ by" >&2
    exit 2
}
revision=$(git rev-parse --verify "$1^{commit}")
name=$(git describe --always --abbrev=12 --exclude '*' "$revision")
shift
[ $# -gt 0 ] || set -- operations --quick

other=$PWD/build/compare/$name
[ -d "$other" ] || {
    git worktree prune
    git worktree add --detach --quiet "$other" "$revision"
}
build() { # FOLDER
    [ -f "$1/build/$preset/build.ninja" ] || (cd "$1" && cmake --preset "$preset" >/dev/null)
    ninja -C "$1/build/$preset" framewire framewire-bench >/dev/null
}
echo "building $name"
build "$other"
echo "building this tree"
build "$PWD"

knows() { # PROGRAM NAME: checks the names one after the other, before anything runs
    { "$1" "$2" no-such-suite 2>&1 || true; } | grep -q "'no-such-suite'"
}

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
# Names come first, followed by options with their values.
names=()
while [ $# -gt 0 ] && [[ $1 != -* ]]; do
    names+=("$1")
    shift
done
old_program=$other/build/$preset/bench/framewire-bench new_program=$PWD/build/$preset/bench/framewire-bench
suites=()
for wanted in $("$new_program" --list "${names[@]}"); do
    if knows "$old_program" "$wanted"; then
        suites+=("$wanted")
    else
        echo "$name does not know $wanted: it is left out"
    fi
done
[ ${#suites[@]} -gt 0 ] || {
    echo "bench-compare.sh: nothing of this is in both revisions" >&2
    exit 1
}
for turn in $(seq "$turns"); do
    echo "turn $turn of $turns"
    for which in old new; do
        program=${which}_program
        "${!program}" "${suites[@]}" "$@" --json "$results/$which-$turn.json" >"$results/log" || { tail -n 5 "$results/log" >&2; exit 1; }
    done
done

# Identifies rows by their parameters. A program's variation is the median of its slowest turn divided by that of its fastest.
python3 - "$results" "$name" <<'TABLE'
import glob
import json
import sys

folder, name = sys.argv[1:]


def medians(which):
    found = {}
    for path in sorted(glob.glob(f"{folder}/{which}-*.json")):
        with open(path, encoding="utf-8") as file:
            for row in json.load(file)["rows"]:
                key = (row["suite"], row["operation"], row["runner"], tuple(sorted(row.get("details", {}).items())))
                if row["median_us"] > 0:
                    found.setdefault(key, []).append(row["median_us"])
    return found


old, new = medians("old"), medians("new")
both = [key for key in new if key in old]
print(f"{'':60} {name:>12} {'this tree':>12} {'times as fast':>14} {'turns differ by':>16}")
for key in both:
    ratio = min(old[key]) / min(new[key])
    spread = max(max(times) / min(times) for times in (old[key], new[key]))
    mark = "" if 1 / spread <= ratio <= spread else "  faster" if ratio > 1 else "  SLOWER"
    label = ", ".join([*key[:3], *(value for _, value in key[3])])
    print(f"{label:60} {min(old[key]):12.2f} {min(new[key]):12.2f} {ratio:14.2f} {spread:16.2f}{mark}")
for which, left in ((name, old.keys() - new.keys()), ("this tree", new.keys() - old.keys())):
    if left:
        print(f"{len(left)} rows only of {which}")
TABLE
