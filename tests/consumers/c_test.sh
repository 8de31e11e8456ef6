#!/usr/bin/env bash
# Installs the C interface into a folder, and uses it from there like another project: compiles the header as C and C++,
# compares the exported functions with those of the header and the ABI with the recorded one, and runs the examples, whose
# results must be those of the program.
#   FRAMEWIRE_RECORD_ABI=1 records the ABI (docs/maintaining/compatibility.md).
cd "$(dirname "$0")/../.." || exit 1
build=$PWD/${FRAMEWIRE_CONSUMER_BUILD:-build/dev}
folder=$build/c-consumer
prefix=$folder/prefix
header=$prefix/include/framewire/framewire.h
program=$build/framewire
vtest=/usr/share/doc/opencv-doc/examples/data/vtest.avi
rm -rf "$folder"
mkdir -p "$folder"
result=0
check() { # NAME FUNCTION: reports one test the way GoogleTest does
    if "$2" >"$folder/log" 2>&1; then
        echo "[       OK ] CConsumer.$1 (0 ms)"
    else
        tail -n 40 "$folder/log"
        echo "[  FAILED  ] CConsumer.$1 (0 ms)"
        result=1
    fi
}
package() {
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name framewire-c.pc)") pkg-config "$@" framewire-c
}
installs() {
    cmake --install "$build" --component c --prefix "$prefix" &&
        [ -s "$header" ] && [ "$(package --modversion)" = "$(head -n 1 VERSION)" ] &&
        [ "$(find "$prefix" -type f | wc -l)" = 3 ] # header, library, pkg-config file
}
header_is_c_and_cpp() {
    local warnings=(-Wall -Wextra -Wconversion -pedantic -Werror -fsyntax-only)
    gcc -std=c11 "${warnings[@]}" -x c "$header" && clang -std=c11 "${warnings[@]}" -x c "$header" &&
        g++ -std=c++11 "${warnings[@]}" -x c++ "$header" && clang++ -std=c++20 "${warnings[@]}" -x c++ "$header"
}
library() { find "$prefix" -name 'libframewire.so.0'; }
exports_the_functions_of_the_header() {
    diff <(gcc -E -P "$header" | grep -oE '\bfw_[a-z_]+\(' | tr -d '(' | sort | sed 's/$/@@FRAMEWIRE_0/') \
        <(nm -D --defined-only "$(library)" | awk '$2 != "A" { print $3 }' | sort) &&
        readelf -d "$(library)" | grep -F 'SONAME' | grep -F '[libframewire.so.0]'
}
# dpkg would take a function that is missing there for one of the present version, whatever version it came with.
debian_knows_the_functions_of_the_header() {
    diff <(gcc -E -P "$header" | grep -oE '\bfw_[a-z_]+\(' | tr -d '(' | sort) \
        <(sed -n 's/^ \(fw_[a-z_]*\)@FRAMEWIRE_0 [0-9.]*$/\1/p' debian/libframewire0.symbols | sort) &&
        grep -q "^framewire ($(head -n 1 VERSION))" debian/changelog
}
# The ABI of a library whose functions do nothing, which is what the header declares: the compiler checks that the real one
# defines the same functions, and the test above that it exports them.
abi() {
    {
        printf '#include "%s"\n' "$header"
        gcc -E -P "$header" | tr '\n' ' ' | grep -oE '__attribute__\(\(visibility\("default"\)\)\)[^;]*;' |
            sed -E 's/^__attribute__\(\([^ ]*\)\) //; s/;$/ { __builtin_trap(); }/'
    } >"$folder/declared.c" &&
        (cd "$folder" && gcc -std=c11 -g -shared -fPIC declared.c -o declared.so &&
            abidw --no-corpus-path --no-comp-dir-path --no-show-locs declared.so)
}
abi_is_the_recorded_one() {
    local recorded=tests/consumers/libframewire.so.0.abi
    [ -z "${FRAMEWIRE_RECORD_ABI:-}" ] || abi >"$recorded"
    abi >"$folder/abi" && abidiff "$recorded" "$folder/abi"
}
examples_compile() {
    local example flags folder_of_library
    folder_of_library=$(dirname "$(library)")
    flags="-O1 -Wall -Wextra -pedantic -Werror $(package --cflags)"
    for example in filter detect watch; do
        # shellcheck disable=SC2046,SC2086  # lists of words
        gcc -std=c11 $flags "examples/c/$example.c" $(package --libs) -Wl,-rpath,"$folder_of_library" -o "$folder/$example" ||
            return 1
    done
    # shellcheck disable=SC2046,SC2086  # lists of words
    g++ -std=c++17 $flags examples/c/codec.cpp $(package --libs) -Wl,-rpath,"$folder_of_library" -o "$folder/codec"
}
first_program_of_the_docs_runs() {
    # shellcheck disable=SC2046  # a list of words
    sed -n '/^```c$/,/^```$/p' docs/c.md | sed '/^```/d' >"$folder/first.c" &&
        gcc -std=c11 -Wall -Wextra -pedantic -Werror "$folder/first.c" $(package --cflags --libs) \
            -Wl,-rpath,"$(dirname "$(library)")" -o "$folder/first" &&
        [ "$("$folder/first")" = "$(grep -oE '/\* [0-9]+ \*/' "$folder/first.c" | tr -dc 0-9)" ]
}
clip() { # 40 frames of a real video, 4:2:0
    [ -s "$folder/clip.mkv" ] || "$program" run -i "$vtest" --frames 40 -o "$folder/clip.mkv" --log-level warning
}
filters_like_the_program() {
    clip || return 1
    local chain
    local -a chains=(gaussian=5,mosaic=32 median=5,scale=300:200,rotate=90 adjust=saturation=2 boxes
        "text=text='{frame} {time}'" '')
    for chain in "${chains[@]}"; do
        "$program" run -i "$folder/clip.mkv" -f "$chain" -o "$folder/want.y4m" -y --backend cpu --log-level warning &&
            "$folder/filter" "$folder/clip.mkv" "$chain" "$folder/got.y4m" && cmp "$folder/want.y4m" "$folder/got.y4m" ||
            { echo "chain: $chain" && return 1; }
    done
}
shows_the_place_of_an_error() {
    local message
    message=$("$folder/filter" "$folder/clip.mkv" gausian=5 "$folder/got.y4m" 2>&1)
    [ $? = 2 ] && [[ $message == *"'gaussian'"*$'\n'*'^' ]] || { echo "$message" && return 1; }
}
detects_like_the_program() {
    clip && "$program" detect -i "$folder/clip.mkv" --min-area 200 -o "$folder/want.jsonl" --log-level warning &&
        "$folder/detect" "$folder/clip.mkv" min-area=200 >"$folder/got" &&
        jq -r '.frame as $frame | .objects[] | "\($frame) \(.box | join(" ")) \(.area)"' \
            "$folder/want.jsonl" >"$folder/want" &&
        [ -s "$folder/want" ] && diff "$folder/want" <(sed 's/ track.*//' "$folder/got") && grep -q ' track 1$' "$folder/got"
}
codes_within_the_threshold() {
    clip && "$folder/codec" "$folder/clip.mkv" threshold=12 | tee "$folder/codec.txt" &&
        grep -qE '^40 frames, [1-9][0-9]+ bytes, largest error 12$' "$folder/codec.txt"
}
watches_a_stream() {
    clip || return 1
    "$program" serve -i "$folder/clip.mkv" --wait 1 --listen 127.0.0.1:0 --threshold 7 --log-level info 2>"$folder/serve" &
    local server=$! url=
    for _ in $(seq 100); do
        url=$(grep -oE 'tcp://127.0.0.1:[0-9]+/main' "$folder/serve" | head -n 1)
        [ -z "$url" ] || break
        sleep 0.1
    done
    "$folder/watch" "$url" >"$folder/watched"
    local status=$?
    kill "$server" 2>/dev/null
    wait "$server"
    cat "$folder/serve" "$folder/watched"
    [ "$status" = 0 ] && grep -qE '^39 [0-9.]+ 7$' "$folder/watched"
}
check Installs installs
check HeaderIsCAndCpp header_is_c_and_cpp
check ExportsTheFunctionsOfTheHeader exports_the_functions_of_the_header
check DebianKnowsTheFunctionsOfTheHeader debian_knows_the_functions_of_the_header
check AbiIsTheRecordedOne abi_is_the_recorded_one
check ExamplesCompile examples_compile
check FirstProgramOfTheDocsRuns first_program_of_the_docs_runs
check FiltersLikeTheProgram filters_like_the_program
check ShowsThePlaceOfAnError shows_the_place_of_an_error
check DetectsLikeTheProgram detects_like_the_program
check CodesWithinTheThreshold codes_within_the_threshold
check WatchesAStream watches_a_stream
exit $result
