#!/usr/bin/env bash
# Checks the direction of includes: a layer may include itself and the layers below it, as docs/architecture.md defines
# them.
cd "$(dirname "$0")/.." || exit 1
declare -A below=(
    [core]="core"
    [cuda]="core cuda"
    [colour]="core cuda colour"
    [filters]="core cuda filters"
    [codec]="core cuda codec"
    [detect]="core cuda filters detect"
    [hog]="core cuda filters hog"
    [plan]="core cuda colour filters codec detect hog plan"
    [media]="core cuda colour filters codec detect hog plan media"
    [net]="core cuda codec net"
    [service]="core cuda colour filters codec detect hog plan media net service"
    [jobs]="core cuda colour filters codec detect hog plan media net service jobs"
    [c]="core cuda colour filters codec detect hog plan media net c"
)
result=0
check() { # NAME FINDINGS: reports one test the way GoogleTest does; it fails if there are findings
    if [ -z "$2" ]; then
        echo "[       OK ] Layering.$1 (0 ms)"
    else
        printf '%s\n' "$2"
        echo "[  FAILED  ] Layering.$1 (0 ms)"
        result=1
    fi
}
for layer in "${!below[@]}"; do
    allowed=${below[$layer]// /|}
    check "$layer" "$(grep -rnoE '#include "framewire/[a-z]+/' "src/framewire/$layer" --include='*.[ch]pp' --include='*.cu' --include='*.cuh' |
        grep -vE "#include \"framewire/($allowed)/")"
done
known=$(printf '%s\n' "${!below[@]}" | sort)
check AllLayersAreKnown "$(diff <(find src/framewire -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort) <(echo "$known"))"
# Only sources of the cuda folder and check.hpp include cuda_runtime.h, and no other header includes check.hpp.
check NoCudaRuntimeInHeaders "$(grep -rnE '#include (<cuda_runtime|"framewire/cuda/check.hpp")' src/framewire --include='*.hpp' | grep -v '^src/framewire/cuda/check.hpp')"
# Stream::queue() lends a stream's handle for one call: a graph records on another stream.
check OnlyTheCudaFolderUsesStreamHandles "$(grep -rnE 'cudaStream_t|CUstream_st' src/framewire --include='*.[ch]pp' --include='*.cu*' |
    grep -v '^src/framewire/cuda/')"
check KernelsAreLaunchedByLaunch "$(grep -rn '<<<' src bench --include='*.cu' --include='*.cuh')"
check OnlyTheCudaFolderCopiesAndLaunches "$(grep -rnE 'cuda(Memcpy|Memset|Launch|EventRecord|GraphLaunch)' src/framewire | grep -v '^src/framewire/cuda/')"
# Sessions use a Connection: only net/tcp and the listener that connects the two use sockets.
check NoSocketsInSessions "$(grep -rnE '#include (<boost/|<sys/socket|<netinet/|"framewire/net/tcp.hpp)' \
    src/framewire/net/{sessions,viewers,stream_state,receiver,wire,transport,limits,congestion_window}.*)"
# Plugins are like other projects.
check PluginsUseTheCInterface "$(grep -rnE '#include [<"]framewire/' plugins | grep -v '<framewire/framewire.h>')"
# Boost is slow to compile, and sessions must not depend on it, so only the code that creates connections includes it.
check OnlyConnectionsIncludeBoost "$(grep -rlE '#include <boost/' src/framewire/net | grep -vE "^src/framewire/net/(tcp|http|websocket|server.cpp)")"
# Libraries of the program that are slow to compile are included in one file each.
check OneFileReadsTheCommandLine "$(grep -rlE '#include <CLI/' apps src | grep -v '^apps/framewire/command_line/command_line.cpp$')"
check OneFileOfTheProgramWritesJson "$(grep -rlE '#include <nlohmann/json.hpp>' apps | grep -v '^apps/framewire/commands/json.cpp$')"
# Jobs do not print: printing for people is the program's task.
check JobsDoNotPrint "$(grep -rnE '\b(fmt::print|std::printf|std::cout|std::cerr)\b' src/framewire/{jobs,service} | grep -v '_test.cpp')"
exit $result
