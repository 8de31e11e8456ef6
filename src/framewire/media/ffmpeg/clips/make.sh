#!/usr/bin/env bash
# Makes the clips of this folder with FFmpeg's encoders. They are kept, because a machine with a GPU may have none.
set -euo pipefail
cd "$(dirname "$0")"

encode() { # FILE SIZE PIXEL_FORMAT ENCODER_OPTIONS...
    ffmpeg -nostdin -v error -y -f lavfi -i "testsrc2=size=$2:rate=25:duration=${seconds:-0.6}" -threads 2 -pix_fmt "$3" -fflags +bitexact \
        -flags +bitexact "${@:4}" "$1"
}

encode h264.mp4 322x182 yuv420p -c:v libx264 -crf 30 -preset slow -bf 3
encode full_range.mp4 322x182 yuvj420p -c:v libx264 -crf 30
encode interlaced.mkv 322x184 yuv420p -c:v libx264 -crf 30 -x264-params interlaced=1:bframes=2
encode h264_444.mp4 322x182 yuv444p -c:v libx264 -crf 32
encode hevc.mp4 322x182 yuv420p -c:v libx265 -crf 32 -x265-params log-level=error
encode hevc10.mp4 322x182 yuv420p10le -c:v libx265 -crf 32 -x265-params log-level=error
encode vp8.webm 322x182 yuv420p -c:v libvpx -crf 40 -b:v 100k
encode vp9.webm 322x182 yuv420p -c:v libvpx-vp9 -crf 45 -b:v 0
encode vp9_10.webm 322x182 yuv420p10le -c:v libvpx-vp9 -profile:v 2 -crf 45 -b:v 0
encode av1.mp4 322x182 yuv420p -c:v libaom-av1 -crf 45 -cpu-used 6
encode av1_10.mp4 322x182 yuv420p10le -c:v libaom-av1 -crf 45 -cpu-used 6
encode mpeg2.mpg 322x182 yuv420p -c:v mpeg2video -q:v 20 -bf 2
# More frames than any ring of a job, with several keyframes.
seconds=3 encode long.mp4 322x182 yuv420p -c:v libx264 -crf 34 -preset slow -bf 2 -g 25

# The size changes in mid-stream.
encode first.ts 322x182 yuv420p -c:v libx264 -crf 30
encode second.ts 256x160 yuv420p -c:v libx264 -crf 30
cat first.ts second.ts >resized.ts
rm first.ts second.ts
