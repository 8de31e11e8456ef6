#!/usr/bin/env bash
# Checks that a first try of the project stays small: the package sets of scripts/deps.sh, and what scripts/demo.sh compiles. Builds
# nothing. Reports the way GoogleTest does.
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
result=0
report() { # NAME STATUS: reports one test the way GoogleTest does
    if [ "$2" -eq 0 ]; then
        echo "[       OK ] Demo.$1 (0 ms)"
    else
        tail -n 40 "$work/log"
        echo "[  FAILED  ] Demo.$1 (0 ms)"
        result=1
    fi
}

status=0
for set in demo program arm64 tests benches all; do
    scripts/deps.sh --list $set >"$work/$set" 2>>"$work/log" && [ -s "$work/$set" ] || status=1
done
within() { # SET OTHER: fails unless each package of SET is also in OTHER
    comm -23 "$work/$1" "$work/$2" | sed "s/^/only in $1, not in $2: /" >"$work/extra"
    cat "$work/extra" >>"$work/log"
    [ ! -s "$work/extra" ]
}
within demo program && within program tests && within program benches &&
    { [ "$(uname -m)" != x86_64 ] || within arm64 tests; } || status=1
sort -u "$work/tests" "$work/benches" | cmp -s - "$work/all" || status=1
scripts/deps.sh --list | cmp -s - "$work/all" || status=1
report PackageSetsAreNested $status

# These packages are large, and the program or the demo must not need them.
! grep -nE '^(chromium|prometheus|nats-server|mosquitto|ffmpeg|opencv-doc|clang|xvfb|lib(opencv|gtest|gmock|charls).*|python3-.*)$' \
    "$work/program" "$work/demo" >"$work/log" && ! grep -nE '^lib(av(format|codec|device|filter)|sdl2|imgui)-dev$' "$work/demo" >>"$work/log"
report ProgramNeedsNoTestPackages $?

scripts/deps.sh --list no-such-set >"$work/log" 2>&1
[ $? -eq 2 ] && grep -q "'no-such-set'" "$work/log"
report UnknownSetIsRejected $?

scripts/demo.sh --no-such-option >"$work/log" 2>&1
[ $? -eq 2 ] && grep -q "'--no-such-option'" "$work/log"
report UnknownOptionIsRejected $?

# Even if there is a CUDA toolkit, the demo must not compile CUDA without --cuda.
cmake --preset demo -B "$work/build" >"$work/log" 2>&1 && ninja -C "$work/build" -t commands framewire >"$work/commands" 2>>"$work/log"
status=$?
objects=$(grep -cE -- ' -c [^ ]+\.cpp$' "$work/commands")
grep -E 'nvcc|\.cu( |$)|_tests?\.cpp|/tests/|/bench/|/lab/' "$work/commands" >>"$work/log" && status=1
echo "$objects objects" >>"$work/log"
[ "$objects" -ge 30 ] && [ "$objects" -le 60 ] || status=1
report BuildsOnlyTheProgram $status
exit $result
