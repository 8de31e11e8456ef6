#!/usr/bin/env bash
# Holds the benches to compiling, which nothing else builds. In the gate other tests run meanwhile, of which many wait more than
# they compute. Reports the way GoogleTest does.
cd "$(dirname "$0")/.." || exit 1
if ninja -C build/dev framewire-bench opencv-detection-curve train-models; then
    echo "[       OK ] Benches.Compile (0 ms)"
else
    echo "[  FAILED  ] Benches.Compile (0 ms)"
    exit 1
fi
