#!/bin/bash
# The tests of scripts/test-packages.sh, which runs this as root in a container of Debian 12 that systemd has booted. The packages
# are in /root/packages/now, and the same with a higher version in next. Everything that they depend on is installed.
cd /root || exit 1
failures=0
check() { # NAME: runs the function of that name in a shell of its own, whose first failing command ends it
    local begin=$SECONDS
    if bash "$0" "$1"; then
        echo "[       OK ] Packages.$1 ($((1000 * (SECONDS - begin))) ms)"
    else
        echo "[  FAILED  ] Packages.$1 ($((1000 * (SECONDS - begin))) ms)"
        failures=$((failures + 1))
    fi
}
fails() { ! "$@"; } # set -e ignores commands after !
# Everything on the disk, except what the system writes while it runs.
everything() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /root -o -path /var/log \
        -o -path /var/tmp -o -path /var/lib/dpkg -o -path /var/lib/systemd -o -path /var/cache/ldconfig \
        -o -path /var/cache/debconf \) -prune -o -print | sort
}
wait_until() { # SECONDS COMMAND...
    local end=$((SECONDS + $1))
    until "${@:2}" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || { echo "waited $1 s for: ${*:2}" && return 1; }
        sleep 0.2
    done
}
main_process() { systemctl show --property MainPID --value framewire@door; }
has_restarted() { # PID of the process before
    local now
    now=$(main_process)
    test "$now" -ne 0 -a "$now" -ne "$1"
}
address=http://127.0.0.1:7878
state=/var/lib/framewire/door
token_file=$state/framewire/token
as_viewer() { curl --silent --fail --show-error --user "any:$(cat $token_file)" "$@"; }

Install() {
    dpkg --install packages/now/*.deb
    dpkg --audit
    test -s /usr/share/man/man1/framewire.1.gz
    bash --norc -c 'source /usr/share/bash-completion/completions/framewire && complete -p framewire'
}
# As a user without rights.
Program() {
    rm -rf /tmp/program && install -d -o daemon /tmp/program && cd /tmp/program
    setpriv --reuid daemon --regid daemon --clear-groups env HOME=/tmp/program bash -ec '
        framewire --version
        framewire run -i synth:size=320x240:objects=3:frames=50 -f median=5,mosaic=16 -o out.mp4
        framewire run -i out.mp4 -o out.y4m
        framewire detect -i out.mp4 -o boxes.jsonl
        test -s out.mp4 -a -s out.y4m -a -s boxes.jsonl
    '
}
# The bytes of the Python package equal those of the program.
Python() {
    rm -rf /tmp/python && mkdir /tmp/python && cd /tmp/python
    framewire run -i synth:size=64x48:frames=1:noise=3 -o in.bgr
    framewire run -i raw:in.bgr:size=64x48:format=bgr -f gaussian=5,mosaic=16 -o out.bgr
    /usr/bin/python3 -c '
import importlib.metadata
import framewire
import numpy
image = numpy.fromfile("in.bgr", numpy.uint8).reshape(48, 64, 3)
out = framewire.Chain("gaussian=5,mosaic=16")(image)
assert out.tobytes() == open("out.bgr", "rb").read()
assert importlib.metadata.version("framewire") == framewire.version(), "the versions differ"
'
}
CExample() {
    rm -rf /tmp/c && mkdir /tmp/c && cd /tmp/c
    # shellcheck disable=SC2046
    gcc -std=c11 -Wall -Werror /usr/share/doc/framewire/examples/c/filter.c $(pkg-config --cflags --libs framewire-c) -o filter
    ./filter synth:size=64x48:frames=5 gaussian=5 by_c.y4m
    framewire run -i synth:size=64x48:frames=5 -f gaussian=5 -o by_program.y4m
    cmp by_c.y4m by_program.y4m
}
Cpp() {
    rm -rf /tmp/cpp && mkdir /tmp/cpp && cd /tmp/cpp
    # shellcheck disable=SC2046
    g++ -std=c++20 -O0 /root/project/job.cpp $(pkg-config --cflags --libs framewire) -o job
    ./job
}
# ffmpeg and gst-launch-1.0 find the plugins, whose bytes equal those of the program.
Plugins() {
    rm -rf /tmp/plugins && mkdir /tmp/plugins && cd /tmp/plugins
    framewire run -i synth:size=64x48:frames=5:objects=2 -o in.bgr
    framewire run -i raw:in.bgr:size=64x48:format=bgr -f gaussian=5,mosaic=16 -o want.bgr
    ffmpeg -v error -f rawvideo -pixel_format bgr24 -video_size 64x48 -i in.bgr \
        -vf "frei0r=framewire:filter_params='gaussian=5,mosaic=16'" -pix_fmt bgr24 -f rawvideo ffmpeg.bgr
    cmp want.bgr ffmpeg.bgr
    gst-launch-1.0 --quiet framewiresrc uri=raw:in.bgr:size=64x48:format=bgr ! framewirefilter chain=gaussian=5,mosaic=16 ! \
        filesink location=gstreamer.bgr
    cmp want.bgr gstreamer.bgr
}
# The documentation has the pages to which it links.
Documentation() {
    cd /usr/share/doc/framewire
    test -s docs/README.md -a -s reference/index.html -a -s examples/python/recipes.py -a -s src/framewire/codec/format.md
}

Service() {
    sed 's/^listen: 127.0.0.1/listen: 0.0.0.0/; s/^  demo:/  door:/' /usr/share/doc/framewire/examples/cameras.yaml \
        >/etc/framewire/door.yaml
    chmod 600 /etc/framewire/door.yaml
    systemctl enable --now framewire@door # returns when the server is ready
    test "$(systemctl is-active framewire@door)" = active
    curl --silent --fail $address/healthz
    test "$(curl --silent --output /dev/null --write-out '%{http_code}' $address/api/cameras)" = 401
    wait_until 20 curl --silent --fail $address/readyz
    as_viewer --output /tmp/door.jpg $address/door/snapshot.jpg
    test "$(head -c 3 /tmp/door.jpg | od -An -tx1)" = ' ff d8 ff'
    framewire view --no-window --frames 5 --token-file $token_file -o /tmp/door.y4m -y tcp://127.0.0.1:7878/door
    as_viewer -X PUT -H 'Content-Type: application/json' -d '{"threshold":7}' $address/api/cameras/door/threshold >/dev/null
    # A new token is in no log.
    journalctl --sync
    journalctl --boot >/tmp/journal
    fails grep --fixed-strings "$(cat $token_file)" /tmp/journal
}
# The process is not root, can gain no rights, and sees only what it needs.
Sandbox() {
    local main user
    main=$(main_process)
    user=$(stat --format %u "/proc/$main")
    test "$user" -ge 61184 -a "$user" -le 65519 # a dynamic user
    grep --quiet '^NoNewPrivs:[[:space:]]*1$' "/proc/$main/status"
    grep --quiet '^CapEff:[[:space:]]*0*$' "/proc/$main/status"
    grep --quiet '^Seccomp:[[:space:]]*2$' "/proc/$main/status"
    test "$(stat --format %a /var/lib/private/framewire/door)" = 700
    test "$(stat --format %a $token_file)" = 600
    fails nsenter --target "$main" --mount touch /usr/framewire-was-here
    fails nsenter --target "$main" --mount ls /root/packages
    systemd-analyze verify --man=no framewire@door.service
}
RestartsAfterACrash() {
    local main
    main=$(main_process)
    kill -SEGV "$main"
    wait_until 30 has_restarted "$main"
    wait_until 30 curl --silent --fail $address/readyz
}
# Mistakes in the configuration are reported, and nothing is tried again.
Misconfigured() {
    printf 'cameras:\n  door:\n    source: synth\n    sauce: 1\n' >/etc/framewire/wrong.yaml
    fails systemctl start framewire@wrong
    journalctl --sync
    journalctl --unit framewire@wrong | grep sauce
    test "$(systemctl is-active framewire@wrong)" = failed
    fails systemctl start framewire@none
    systemctl reset-failed
    rm /etc/framewire/wrong.yaml
}
# The instance runs with the new program, the old token, and the settings that were made over HTTP.
Upgrade() {
    local main token
    main=$(main_process)
    token=$(cat $token_file)
    dpkg --install packages/next/*.deb
    test "$(dpkg-query --show --showformat='${Version}' framewire)" != "$(dpkg-deb --field packages/now/framewire_*.deb Version)"
    test "$(systemctl is-active framewire@door)" = active
    has_restarted "$main"
    wait_until 20 curl --silent --fail $address/readyz
    test "$(cat $token_file)" = "$token"
    as_viewer $address/api/cameras/door | python3 -c 'import json, sys; assert json.load(sys.stdin)["threshold"] == 7'
}
StopsCleanly() {
    systemctl stop framewire@door
    test "$(systemctl show --property Result --value framewire@door)" = success
    systemctl start framewire@door
}
# `remove` keeps configuration and state, and `purge` leaves nothing.
Purge() {
    local names
    names=$(dpkg-query --show --showformat='${Package} ' 'framewire*' 'libframewire*' python3-framewire)
    # shellcheck disable=SC2086
    dpkg --remove $names
    test ! -e /usr/bin/framewire
    fails systemctl is-active --quiet framewire@door
    test -s $token_file -a -s /etc/framewire/door.yaml
    # shellcheck disable=SC2086
    dpkg --purge $names
    everything >/root/after
    diff /root/before /root/after
}

if [ $# -gt 0 ]; then
    set -e
    "$1"
    exit
fi
everything >/root/before
for name in Install Program Python CExample Cpp Plugins Documentation Service Sandbox RestartsAfterACrash Misconfigured Upgrade StopsCleanly Purge; do
    echo "== $name"
    check $name
done
if [ $failures -eq 0 ]; then echo "all tests passed"; fi
