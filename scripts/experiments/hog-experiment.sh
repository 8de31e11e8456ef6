#!/usr/bin/env bash
# Repeats the HOG report's experiment (section 8) and prints its table with framewire's figures below the report's: the
# first 12 images of a folder, 5 times, and the first 480 frames of a video, on the CPU and, if there is one, on the
# GPU with 1, 2 and 4 streams.
#   scripts/experiments/hog-experiment.sh IMAGES [VIDEO]
# VIDEO is vtest.avi of Debian's opencv-doc if it is installed, else 480 frames of the synthetic camera, from a file.
# The report counted only the steps of the algorithm. Here 'all' is reading, decoding, computing and writing the .npy, which
# overlap, and 'steps' is computing alone, which a GPU does in parallel with the rest.
#   FRAMEWIRE=build/dev/framewire    the program; in a GPU bundle the one beside this script
set -euo pipefail
[ $# -eq 1 ] || [ $# -eq 2 ] || { sed -n '2,9s/^# \?//p' "$0" >&2; exit 2; }
here=$(dirname "$0")
default=build/dev/framewire
[ ! -x "$here/under.sh" ] || default="$here/under.sh $here/bin/framewire"
read -r -a framewire <<<"${FRAMEWIRE:-$default}"
images=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

video=${2:-$(dpkg -L opencv-doc 2>/dev/null | grep 'vtest.avi$' || true)}
if [ -z "$video" ]; then
    video=$work/video.y4m
    "${framewire[@]}" run --log-level error --progress none --backend cpu -i synth:size=768x576:fps=24 -o "$video" --frames 480
fi

# Prints the total seconds of a run and the seconds of its steps, or those of one frame, as medians of 5 repetitions.
measure() { # run|frame BACKEND STREAMS FRAMES INPUT OUTPUT
    for _ in 1 2 3 4 5; do
        "${framewire[@]}" hog -y --log-level error --progress none --backend "$2" --streams "$3" --frames "$4" -i "$5" -o "$6" \
            --stats "$work/stats.json"
        awk -F '[:,]' -v of="$1" '
            /"frames"/ { frames = $2 }
            /"seconds"/ { all = $2 }
            /"process_ms"/ { getline; steps = $2 / 1000 * frames }
            END { parts = of == "frame" ? frames : 1; print all / parts, steps / parts }' "$work/stats.json"
    done >"$work/times"
    echo "$(sort -g "$work/times" | awk 'NR == 3 { print $1 }') $(sort -g -k 2 "$work/times" | awk 'NR == 3 { print $2 }')"
}
of_images() { measure frame "$1" "$2" 12 "$images" "$work/descriptors/"; }
of_video() { measure run "$1" "$2" 480 "$video" "$work/video.npy"; }

row() { printf '%-46s %8s %8s %8s %8s\n' "$@"; }
number() { printf '%.4g' "$1"; }

read -r images_all images_steps < <(of_images cpu 1)
read -r video_all video_steps < <(of_video cpu 1)
images_gpu=() video_gpu=()
if "${framewire[@]}" hog -y --log-level off --progress none --backend cuda -i "$images" -o "$work/descriptors/" --frames 1 2>/dev/null; then
    for streams in 1 2 4; do
        read -r all _ < <(of_images cuda "$streams")
        images_gpu+=("$(number "$all")")
        read -r all _ < <(of_video cuda "$streams")
        video_gpu+=("$(number "$all")")
    done
else
    images_gpu=(- - -) video_gpu=(- - -)
fi

row "seconds" CPU "GPU, 1" "GPU, 2" "GPU, 4"
row "an image: report (i7-7700, GTX 1060), steps" 0.107 0.004 0.003 0.003
row "an image: framewire, steps" "$(number "$images_steps")" - - -
row "an image: framewire, all" "$(number "$images_all")" "${images_gpu[@]}"
row "480 frames: report, steps" 59.05 2.04 1.76 1.59
row "480 frames: framewire, steps" "$(number "$video_steps")" - - -
row "480 frames: framewire, all" "$(number "$video_all")" "${video_gpu[@]}"
