#!/usr/bin/env bash
# Makes the videos of `framewire bench limits/decode` with ffmpeg: moving patterns under sensor noise, which use up the bit rate.
# About 20 MB in all; a file that exists is kept.
#   bench/limits/decode-videos.sh FOLDER
#   framewire bench limits/decode --input FOLDER
set -euo pipefail
folder=${1:?usage: decode-videos.sh FOLDER}
mkdir -p "$folder"

make() { # NAME SIZE SECONDS CODEC_OPTIONS...
    local path=$folder/$1 size=$2 seconds=$3
    shift 3
    [ ! -s "$path" ] || return 0
    ffmpeg -nostdin -loglevel error -y -f lavfi -i "testsrc2=size=$size:rate=30,hue=s=0.4,noise=alls=6:allf=t" -t "$seconds" \
        -pix_fmt yuv420p "$@" "$path"
    echo "$path: $(stat -c %s "$path") bytes"
}

rate() { echo -b:v "$1" -maxrate "$1" -bufsize "$1"; }
# shellcheck disable=SC2046  # rate prints several words
{
    make h264_1080_2m.mp4 1920x1080 10 -c:v libx264 -preset veryfast $(rate 2M)
    make h264_1080_8m.mp4 1920x1080 4 -c:v libx264 -preset veryfast $(rate 8M)
    make hevc_1080_4m.mp4 1920x1080 6 -c:v libx265 -preset ultrafast -x265-params log-level=error $(rate 4M)
    make vp9_1080_2m.webm 1920x1080 8 -c:v libvpx-vp9 -deadline realtime -cpu-used 8 $(rate 2M)
    make h264_720_2m.mp4 1280x720 10 -c:v libx264 -preset veryfast $(rate 2M)
    make h264_2160_8m.mp4 3840x2160 4 -c:v libx264 -preset veryfast $(rate 8M)
    make mjpeg_1080.avi 1920x1080 1 -c:v mjpeg -q:v 8
}
