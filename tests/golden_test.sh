#!/usr/bin/env bash
# Runs the jobs of golden/results.txt and compares what they write with the hashes there. Reports the way GoogleTest does.
#   golden_test.sh [OPTION...]       options of the program for every job, such as --threads 1
#   golden_test.sh --record          writes the hashes of this build into golden/results.txt
#   FRAMEWIRE_BACKEND="cpu cuda"     backends; default cpu
#   FRAMEWIRE_PROGRAM=FILE           default build/dev/framewire
#   FRAMEWIRE_TEST_FONT=FILE         DejaVu Sans, if fontconfig does not know it
#   TEST_JOBS=N                      jobs at a time; default 1
#   GTEST_TOTAL_SHARDS=N GTEST_SHARD_INDEX=I   every Nth job only, from the Ith on
set -uo pipefail
here=$(dirname "$(realpath "$0")")
results=$here/golden/results.txt
program=$(realpath "${FRAMEWIRE_PROGRAM:-$here/../build/dev/framewire}")
work=$(mktemp -d)
export LC_ALL=C program work record=
trap 'rm -rf "$work"' EXIT
if [ "${1:-}" = --record ]; then
    record=1
    shift
fi
export options="$*"

framewire() { ${TEST_UNDER:-} "$program" "$@"; }
# Defines the subcommands as they are written in results.txt. shellcheck disable=SC2086  # a list of words
{
    run() { framewire run "$@" --backend "$backend" --log-level warning $options; }
    detect() { framewire detect "$@" --backend "$backend" --log-level warning $options; }
    hog() { framewire hog "$@" --backend "$backend" --log-level warning $options; }
    serve() { framewire serve "$@" --listen 127.0.0.1:0 --backend "$backend" --log-level warning $options; }
}

hash_of_outputs() { # prints the hash that results.txt describes; fails if a job writes nothing or an empty file
    local files sums file
    mapfile -t files < <(find . -path './out*' -type f ! -path '*/.framewire/*' | sort)
    [ ${#files[@]} -gt 0 ] || { echo "the job wrote no output out.*" && return 1; }
    for file in "${files[@]}"; do
        [ -s "$file" ] || { echo "$file is empty" && return 1; }
    done
    sums=$(sha256sum "${files[@]}")
    [ ${#files[@]} -eq 1 ] || sums=$(sha256sum <<<"$sums")
    echo "${sums:0:16}"
}

skip_reason() { # KIND: prints why jobs of that kind cannot run on this machine; nothing if they can
    case $1 in
        ffmpeg) [ -e "$work/has-ffmpeg" ] || echo "this build has no FFmpeg" ;;
        font) [ -e "$work/inputs/font.ttf" ] || echo "no font DejaVu Sans on this machine" ;;
        swscale) [ -e "$work/has-ffmpeg" ] || echo "this build has no FFmpeg"
            [ ! -e "$work/runs-NEON" ] || echo "libswscale rounds differently on arm64" ;;
        floats) [ "$backend" = cpu ] && { [ -e "$work/runs-AVX3_DL" ] || [ -e "$work/runs-NEON" ]; } ||
            echo "HOG's floats are recorded on a CPU with AVX3_DL or NEON" ;;
    esac
}

run_job() { # NUMBER LINE: runs and reports the job of one line of results.txt; writes its hash to $work/NUMBER
    local number=$1 kind recorded command reason hash began_us=${EPOCHREALTIME/./}
    read -r kind recorded command <<<"$2"
    local folder=$work/job-$number outcome='      OK' message=
    reason=$(skip_reason "$kind")
    if [ -n "$reason" ]; then
        outcome=' SKIPPED'
        message="results.txt:$number: Skipped"$'\n'"$reason"$'\n'
    else
        mkdir "$folder"
        ln -s "$work"/inputs/* "$folder"
        # Run the job outside a condition, in which `set -e` would have no effect.
        hash=$(
            exec 2>"$folder.log"
            set -e
            cd "$folder"
            eval "$command" >&2
            hash_of_outputs
        )
        [ $? -eq 0 ] || hash="failed: $hash $(tail -n 3 "$folder.log")"
        rm -rf "$folder"
        if [[ $hash == failed* ]] || { [ "$hash" != "$recorded" ] && [ -z "$record" ]; }; then
            outcome=' FAILED '
            message="results.txt:$number: $hash, not $recorded"$'\n'
        else
            echo "$hash" >"$work/$number"
        fi
    fi
    printf '%s[ %s ] Golden.Line%d/%s %s (%d ms)\n' "$message" "$outcome" "$number" "$backend" "$command" \
        $(((${EPOCHREALTIME/./} - began_us) / 1000))
    [ "$outcome" != ' FAILED ' ]
}
export -f framewire run detect hog serve hash_of_outputs skip_reason run_job

report() { # NAME PROBLEM: reports one test, which fails if PROBLEM is not empty
    [ -n "$2" ] || { echo "[       OK ] Golden.$1 (0 ms)" && return 0; }
    printf '%s\n[  FAILED  ] Golden.%s (0 ms)\n' "$2" "$1"
    return 1
}

mkdir "$work/inputs"
version=$(framewire --version)
grep -q '^FFmpeg: not built in' <<<"$version" || touch "$work/has-ffmpeg"
for best in AVX3_DL NEON; do
    grep -q "this CPU runs $best" <<<"$version" && touch "$work/runs-$best"
done
font=${FRAMEWIRE_TEST_FONT:-$(fc-match --format='%{file}' 'DejaVu Sans:style=Book' 2>/dev/null)}
# If DejaVu Sans is missing, fontconfig names another font, which is not used.
case $font in */DejaVuSans.ttf | */test-font.ttf) ln -s "$(realpath "$font")" "$work/inputs/font.ttf" ;; esac

status=0
export backend=cpu
report EveryLineIsAJob "$(grep -nvE '^(#.*|input   -                 .+|(any|font|ffmpeg|swscale|floats) +([0-9a-f]{16}|- {15})  .+|)$' "$results")" || status=1
inputs=$(cd "$work/inputs" && sed -n 's/^input  *-  *//p' "$results" | while read -r command; do
    eval "$command" 2>&1 </dev/null || { echo "failed: $command" && break; }
done)
report InputsAreGenerated "$inputs" || exit 1
# Examples with {fps} are left out, because it depends on the machine's speed.
missing=$(framewire filters | sed -n 's/^ *for example  *-f "\(.*\)"$/\1/p' | grep -vF '{fps}' | while read -r example; do
    grep -qF -e "-f \"$example\"" -e "-f \"$example:font=" "$results" || echo "results.txt has no job with -f \"$example\""
done)
report EveryFilterExampleHasAJob "$missing" || status=1

for backend in ${FRAMEWIRE_BACKEND:-cpu}; do
    awk -v ORS='\0' -v shards="${GTEST_TOTAL_SHARDS:-1}" -v shard="${GTEST_SHARD_INDEX:-0}" '
        /^(any|font|ffmpeg|swscale|floats) / && jobs++ % shards == shard { print NR; print }' "$results" |
        xargs -0 -n 2 -P "${TEST_JOBS:-1}" bash -c 'run_job "$@"' run_job || status=1
done

if [ -n "$record" ]; then
    awk -v work="$work" '{
        file = work "/" NR
        if ((getline hash <file) > 0) sub(/  [^ ]+ +/, sprintf("  %-16s  ", hash))
        close(file)
        print
    }' "$results" >"$work/results" && cp "$work/results" "$results"
fi
exit $status
