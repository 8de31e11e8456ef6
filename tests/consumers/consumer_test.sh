#!/usr/bin/env bash
# Installs framewire into a folder, then builds and runs the programs of a project that finds it there with
# find_package; that project also compiles every installed header by itself. Then does the same with pkg-config, and
# checks that completions, the manual page and the like are installed.
cd "$(dirname "$0")/../.." || exit 1
build=${FRAMEWIRE_CONSUMER_BUILD:-build/dev}
folder=$PWD/$build/consumer # the same in every run, for ccache
rm -rf "$folder"
mkdir -p "$folder"
# Precompiled headers, which take longest to hash, need these ccache settings. ccache also needs -fpch-deps, which lists
# what the headers contain.
launcher="env;CCACHE_DEPEND=1;CCACHE_INODECACHE=1;CCACHE_SLOPPINESS=pch_defines,time_macros;ccache"
attempt() {
    cmake --install "$build" --prefix "$folder/prefix" &&
        cmake -S tests/consumers/project -B "$folder/build" -G Ninja -DCMAKE_PREFIX_PATH="$folder/prefix" \
            -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" -DCMAKE_CXX_FLAGS=-fpch-deps &&
        cmake --build "$folder/build" &&
        for program in encode record mirror broadcast job; do (cd "$folder" && "build/$program") || return 1; done &&
        "$folder/prefix/bin/framewire" --version
}
by_pkg_config() {
    local flags
    flags=$(PKG_CONFIG_PATH=$folder/prefix/lib/pkgconfig:$folder/prefix/lib/$(gcc -print-multiarch)/pkgconfig \
        pkg-config --cflags --libs framewire) &&
        # shellcheck disable=SC2086
        g++ -std=c++20 tests/consumers/project/job.cpp $flags "-Wl,-rpath,$folder/prefix/lib" -o "$folder/by-pkg-config" &&
        (cd "$folder" && ./by-pkg-config)
}
installed() {
    local file
    for file in man/man1/framewire.1 bash-completion/completions/framewire zsh/site-functions/_framewire \
        fish/vendor_completions.d/framewire.fish doc/framewire/LICENSE; do
        test -s "$folder/prefix/share/$file" || { echo "share/$file was not installed"; return 1; }
    done
    # bash finds the completion by the program's name.
    bash --norc -c "source '$folder/prefix/share/bash-completion/completions/framewire' && complete -p framewire"
}
result=0
check() { # NAME FUNCTION
    if "$2" >>"$folder/log" 2>&1; then
        echo "[       OK ] Consumer.$1 (0 ms)"
    else
        tail -n 40 "$folder/log"
        echo "[  FAILED  ] Consumer.$1 (0 ms)"
        result=1
    fi
}
check FindPackage attempt
check PkgConfig by_pkg_config
check InstallsManualPageAndCompletions installed
exit $result
