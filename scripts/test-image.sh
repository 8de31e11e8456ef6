#!/usr/bin/env bash
# Tests the container image that packaging/Containerfile makes: size, user, a root that cannot be written, the time from
# `podman run` to the first picture, health checks with and without TLS, H.264 over RTSP, and a token that stays.
#   scripts/test-image.sh [IMAGE [RUN-OPTION...]]      default: localhost/framewire; needs podman, curl and ffprobe
# PODMAN is the command with its options, such as "podman --runtime runc". Uses ports 17878 and 17879 of this machine.
set -euo pipefail
image=${1:-localhost/framewire}
read -r -a podman <<<"${PODMAN:-podman}"
options=("${@:2}" --network=host --read-only --cap-drop=all --security-opt=no-new-privileges)
name=framewire-test-$$
folder=$(mktemp -d)
failures=0
trap '"${podman[@]}" rm --force --time 5 $name >/dev/null 2>&1; "${podman[@]}" volume rm --force $name >/dev/null 2>&1; rm -rf "$folder"' EXIT

check() { # NAME COMMAND...
    if "${@:2}" >"$folder/log" 2>&1; then echo "[       OK ] Image.$1 (0 ms)"; else
        cat "$folder/log"
        echo "[  FAILED  ] Image.$1 (0 ms)"
        failures=$((failures + 1))
    fi
}
start() { # OPTION...: runs `framewire serve` with the state of the volume
    "${podman[@]}" rm --force --time 5 $name >/dev/null 2>&1 || true
    "${podman[@]}" run --detach --name $name --volume $name:/var/lib/framewire "${options[@]}" "$image" \
        serve -i demo=synth:size=640x480:fps=25:objects=3 "$@" >/dev/null 2>"$folder/run" || {
        cat "$folder/run"
        return 1
    }
}
inside() { "${podman[@]}" exec $name "$@"; }
wait_until() { # SECONDS COMMAND...
    local end=$((SECONDS + $1))
    until "${@:2}" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || { echo "waited $1 s for: ${*:2}" && return 1; }
        sleep 0.05
    done
}
fetch() { # PATH: a file of the server to picture.jpg, with the token
    curl --silent --insecure --fail --user "any:$(inside cat token)" --output "$folder/picture.jpg" "$1"
}

# In these functions && joins the commands, because set -e does not end a function in a condition.
is_small() {
    local bytes
    bytes=$("${podman[@]}" image inspect --format '{{.Size}}' "$image") && echo "$bytes bytes" && test "$bytes" -le 150000000
}
shows_a_picture() {
    local begin
    begin=$(date +%s%N) && start --listen 0.0.0.0:17878 &&
        wait_until 10 fetch http://127.0.0.1:17878/demo/snapshot.jpg &&
        milliseconds=$((($(date +%s%N) - begin) / 1000000)) &&
        test "$(head -c 2 "$folder/picture.jpg" | od -An -tx1)" = ' ff d8'
}
has_no_rights() {
    test "$(inside id -u)" = 65532 && inside grep -q '^CapEff:[[:space:]]*0*$' /proc/1/status &&
        ! inside sh -c 'echo >/etc/here'
}
keeps_its_token() {
    local token
    token=$(inside cat token) && start --listen 0.0.0.0:17878 && wait_until 10 inside framewire-health 17878 &&
        test "$(inside cat token)" = "$token"
}
serves_h264_with_tls() {
    start --listen 127.0.0.1:17878 --tls --rtsp 127.0.0.1:17879 && wait_until 10 inside framewire-health 17878 &&
        ffprobe -v error -tls_verify 0 -show_entries stream=codec_name rtsps://127.0.0.1:17879/demo | grep h264
}
is_unhealthy_without_a_server() { ! inside framewire-health 17880; }

check IsSmall is_small
cat "$folder/log"
check ShowsAPicture shows_a_picture
echo "first picture after ${milliseconds:-?} ms"
check HasNoRights has_no_rights
check IsHealthy wait_until 10 inside framewire-health 17878
check IsUnhealthyWithoutAServer is_unhealthy_without_a_server
check KeepsItsToken keeps_its_token
check ServesH264WithTls serves_h264_with_tls
exit $failures
