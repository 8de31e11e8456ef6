#!/usr/bin/env bash
# Tests runs over many files on a real cluster: Slurm from Debian's packages with four nodes on this machine, its own controller and
# key, all in namespaces that end with this script. It runs the recipes of docs/with/slurm.md and docs/many-files.md unchanged: an
# array of tasks over 40 clips, one node killed in the middle, the dependent merge; the array with one GPU per task; then GNU
# parallel. Every output must exist once, complete, and equal to that of a single run. Slurm's GPUs are null devices.
#   scripts/test-cluster.sh [PROGRAM]      needs root or sudo, and some minutes; installs what is missing
set -euo pipefail
cd "$(dirname "$0")/.."
address=10.213.17.1 # Slurm accepts no loopback address for its nodes; this one exists only in a namespace
nodes=4 gpus=2 clips=40

install_packages() {
    local missing=() package
    for package in slurm-wlm munge parallel iproute2 util-linux; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    echo "test-cluster.sh: installing ${missing[*]}" >&2
    apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

if [ "${1:-}" != --inside ]; then
    program=$(realpath -m "${1:-build/dev/framewire}")
    [ -x "$program" ] || {
        echo "test-cluster.sh: $program is missing; build it, or name it" >&2
        exit 66
    }
    if [ "$(id -u)" -ne 0 ]; then exec sudo "$0" "$program"; fi
    folder=$(mktemp -d /tmp/framewire-cluster-XXXXXX)
    trap 'rm -rf "$folder"' EXIT
    install_packages
    # Use separate namespaces for processes, network and host name: when the first process ends, all end.
    timeout --foreground 900 unshare --net --uts --pid --mount --fork --kill-child --mount-proc \
        "$0" --inside "$program" "$folder"
    exit
fi
program=$2 folder=$3
PATH=$(dirname "$program"):$PATH
export SLURM_CONF=$folder/etc/slurm.conf
failures=0

check() { # NAME COMMAND...: reports one test the way GoogleTest does
    if "${@:2}"; then echo "[       OK ] Cluster.$1 (0 ms)"; else
        echo "[  FAILED  ] Cluster.$1 (0 ms)"
        failures=$((failures + 1))
    fi
}
wait_until() { # SECONDS COMMAND...: repeats the command until it succeeds
    local end=$((SECONDS + $1))
    until "${@:2}" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || {
            echo "test-cluster.sh: waited $1 s for: ${*:2}" >&2
            tail -n 20 "$folder"/log/*.log >&2
            return 1
        }
        sleep 0.3
    done
}

start_cluster() {
    hostname framewire-head
    ip link set lo up
    ip address add $address/32 dev lo
    mkdir -p "$folder"/{etc,log,state,spool,run}
    chmod 755 "$folder"
    head -c 128 /dev/urandom >"$folder/etc/munge.key"
    chmod 400 "$folder/etc/munge.key"
    munged --force --foreground --key-file="$folder/etc/munge.key" --socket="$folder/run/munge" \
        --pid-file="$folder/run/munged.pid" --log-file="$folder/log/munged.log" --seed-file="$folder/run/munge.seed" \
        >"$folder/log/munged-out.log" 2>&1 &
    cat >"$SLURM_CONF" <<CONF
ClusterName=framewire
SlurmctldHost=framewire-head($address)
SlurmUser=root
SlurmctldPort=17002
AuthType=auth/munge
AuthInfo=socket=$folder/run/munge
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
GresTypes=gpu
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
NodeName=n[1-$nodes] NodeHostname=framewire-head NodeAddr=$address Port=[17101-$((17100 + nodes))] CPUs=$gpus Gres=gpu:$gpus State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
    echo CgroupPlugin=cgroup/v1 >"$folder/etc/cgroup.conf"
    echo "NodeName=n[1-$nodes] Name=gpu Flags=nvidia_gpu_env File=$folder/gpu[0-$((gpus - 1))]" >"$folder/etc/gres.conf"
    local gpu
    for gpu in $(seq 0 $((gpus - 1))); do mknod "$folder/gpu$gpu" c 1 3; done
    wait_until 20 test -S "$folder/run/munge"
    slurmctld -D >"$folder/log/slurmctld-out.log" 2>&1 &
    local node
    for node in $(seq $nodes); do start_node "n$node"; done
    wait_until 60 all_idle
}
start_node() { slurmd -D -N "$1" >"$folder/log/$1-out.log" 2>&1 & }
all_idle() { [ "$(sinfo -h -t idle -o %D)" = $nodes ]; }

# Simulates a power failure of a node: kills its daemon and everything that it started.
kill_node() {
    local processes process
    processes=$(cat "$folder/run/$1.pid")
    for process in /proc/[0-9]*; do
        process=${process#/proc/}
        if grep -qz "^SLURMD_NODENAME=$1\$" "/proc/$process/environ" 2>/dev/null; then
            processes+=" $process $(ps -o ppid= -p "$process" || true)"
        fi
    done
    kill -9 $(printf '%s\n' $processes | sort -un | grep -vxE "1|$$") 2>/dev/null || true
}

recipe() { # NAME: writes the recipe of that name in the docs to a file of the same name
    awk -v name="<!-- recipe: $1 -->" '$0 == name {found = 1; next} found && /^```/ {if (inside) exit; inside = 1; next} inside' \
        docs/with/slurm.md docs/many-files.md >"$folder/work/$1"
    [ -s "$folder/work/$1" ] || { echo "neither docs/with/slurm.md nor docs/many-files.md has the recipe $1" >&2 && return 1; }
}

files_of() { (cd "$1" && find . -type f ! -name '*.log' -print0 | sort -z | xargs -0 sha256sum); }
same_files() { diff <(files_of "$1") <(files_of "$2"); }
none_left() { [ -z "$(find "$1" -name '*.part' -o -name '*.begun')" ]; }
ended() { [ -z "$(squeue -h)" ]; }
one_is_made() { compgen -G "$folder/work/boxes/*.jsonl"; }
runs_on_n2() { [ -n "$(squeue -h -w n2 -t R)" ]; }
each_has_one_gpu() { ! grep -qvxE "n[1-$nodes] [0-$((gpus - 1))]" gpus.txt && [ "$(cut -d' ' -f2 gpus.txt | sort -u | wc -l)" = $gpus ]; }
is_down() { sinfo -h -n "$1" -o %t | grep -q '^down'; }

mkdir -p "$folder/work/clips"
for number in $(seq 1 $clips); do
    framewire run --log-level error --backend cpu -i "synth:size=320x240:fps=30:objects=4:seed=$number" --frames 60 \
        -o "$folder/work/clips/$(printf 'c%03d.mp4' "$number")"
done
for name in detect.sh array.sh merge.sh submit.sh parallel.sh; do recipe $name; done
root=$PWD
cd "$folder/work"
chmod +x ./*.sh
ls -d "$PWD"/clips/*.mp4 >clips.txt

./detect.sh && mv boxes single # the reference for all other runs
start_cluster

began=$SECONDS
. ./submit.sh
wait_until 120 one_is_made
wait_until 60 runs_on_n2
kill_node n2
echo "test-cluster.sh: n2 killed after $((SECONDS - began)) s, with $(find boxes/.framewire -name '*.done' | wc -l) of $clips made" >&2
check TheKilledNodeIsDown wait_until 60 is_down n2
check AllTasksEnd wait_until 500 ended
echo "test-cluster.sh: the array and its merge took $((SECONDS - began)) s" >&2
check OutputsAreThoseOfASingleRun same_files single boxes
check NothingIsLeftOver none_left boxes
check TheMergeHasAll cmp all.jsonl <(cat single/*.jsonl)
check ATaskWasRequeued grep -qs "requeue job .*due to failure of node n2" "$folder/log/slurmctld.log"

rm -r boxes
sed '/^again/i echo "$SLURMD_NODENAME $CUDA_VISIBLE_DEVICES" >>gpus.txt' array.sh >gpus.sh
sbatch --gres=gpu:1 gpus.sh
check TasksWithGpusEnd wait_until 500 ended
check EachTaskHasOneGpu each_has_one_gpu
check TasksWithGpusMakeTheSame same_files single boxes

rm -r boxes
./parallel.sh
check ParallelMakesTheSame same_files single boxes
cd "$root"
[ $failures = 0 ] || tail -n 30 "$folder"/log/*.log "$folder"/work/*.log >&2
echo "$((10 - failures)) passed, $failures failed"
[ $failures = 0 ]
