#!/usr/bin/env bash
# Profiles each kernel of the ladders with ncu: registers, occupancy, efficiency of loads and stores, time. Runs on a machine with
# a GPU, from gpu-bundle/ or from the sources.
#   bench/profile.sh PROFILE.csv [GROUPS...]    groups or suites of framewire bench; default: ladders
#   PROFILE_SECONDS=60                          time limit per suite; results until then are kept
# Each launch shape of a kernel is profiled once, at the GPU's current clocks. NCU names the program if it is not on the path.
# bench/report.py --profile makes a table of the file.
set -euo pipefail
[ $# -ge 1 ] || {
    sed -n '2,7s/^# *//p' "$0" >&2
    exit 2
}
file=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- ladders
here=$(cd "$(dirname "$0")" && pwd)
if [ -x "$here/under.sh" ]; then
    program=("$here/under.sh" "$here/bin/framewire-bench")
else
    program=("$here/../build/${FRAMEWIRE_PRESET:-dev}/bench/framewire-bench")
fi
ncu=${NCU:-$(command -v ncu || ls -d /usr/local/cuda*/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2>/dev/null | tail -n 1)}
[ -n "$ncu" ] || {
    echo "profile.sh: ncu is not installed; it comes with the CUDA toolkit and with Nsight Compute" >&2
    exit 1
}
metrics=launch__registers_per_thread,gpu__time_duration.sum
metrics+=,sm__maximum_warps_per_active_cycle_pct,sm__warps_active.avg.pct_of_peak_sustained_active
metrics+=,smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct
metrics+=,smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct
metrics+=,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
metrics+=,dram__throughput.avg.pct_of_peak_sustained_elapsed
part=$(mktemp)
trap 'rm -f "$part"' EXIT
: >"$file"
"${program[@]}" --list "$@" | while read -r suite; do
    : >"$part"
    begin=$SECONDS
    # An interrupted ncu still writes the results that it has.
    timeout --signal=INT --kill-after=20 "${PROFILE_SECONDS:-60}" \
        "$ncu" --csv --print-units base --metrics "$metrics" --clock-control none \
        --target-processes all --filter-mode per-launch-config --launch-count 1 \
        --log-file "$part" "${program[@]}" "$suite" --once </dev/null ||
        echo "profile.sh: $suite failed or was interrupted; the results that ncu reported are kept" >&2
    echo "profile.sh: $suite, $(grep -c '"gpu__time_duration.sum"' "$part" || true) launches, $((SECONDS - begin)) s" >&2
    cat "$part" >>"$file"
done
grep -q '"gpu__time_duration.sum"' "$file" || {
    echo "profile.sh: ncu reported no kernel; its output is in $file" >&2
    exit 1
}
