#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/hog_arithmetic.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

// Votes that are spread over neighbouring cells (Dalal and Triggs 2005, sections 6.3 and 6.4): what Hog does with
// central gradients.

namespace framewire {

/// Where votes go along one axis; both are alike. A window is what a row and column of descriptors comes from: with a
/// norm a block of cells, whose votes stay in it and count less the further they are from its middle; without one a
/// cell and its neighbours, of which only the one in the middle has a histogram.
struct SpreadAxis {
    int before = 0;   ///< cells before the descriptor's own where its window begins
    int cells = 0;    ///< of the window
    int targets = 0;  ///< cells of the window that have a histogram
    /// What a vote counts for: targets x pixels of the window. A cell gets as much as the pixel is near its centre, all
    /// of it there and nothing from a cell's side away on. With a norm that is multiplied by exp(-d^2 / (2 s^2)), d
    /// being how far the pixel is from the block's middle and s a quarter of its side, as in OpenCV's HOGDescriptor.
    std::vector<float> weights{};

    /// Pixels of the window.
    struct Span {
        int begin, end;
    };
    std::vector<Span> spans{};  ///< of each target those whose votes count for anything
};
SpreadAxis spread_axis(const HogParameters& parameters);

/// Windows side by side that a block of threads on a GPU has, and the pixels of a row of them.
struct SpreadStrip {
    int windows, px;
};

inline constexpr int hog_spread_threads = 128;  ///< of a block, each with a histogram

/// How many votes there is room for in a block's shared memory: whole groups of eight.
FRAMEWIRE_HOST_DEVICE constexpr int spread_votes(int strip_px) { return (strip_px + 7) / 8 * 8; }

/// A block's shared memory: histograms, a strip's votes and the gamma.
constexpr int spread_memory_bytes(int strip_px, int bins) {
    return (bins + 1) * hog_spread_threads * 8 + spread_votes(strip_px) * 16 + 256;
}

/// As many windows as there are threads or pixels for; one always fits. Threads take turns with the pixels: a last turn
/// of few is left out.
constexpr SpreadStrip spread_strip(int cells, int targets, int cell, int bins) {
    constexpr int memory_bytes = 48 * 1024, most_px = 768;  // what every GPU grants; more px gain nothing
    const int px = std::min(most_px, (memory_bytes - spread_memory_bytes(0, bins)) / 128 * 8);
    const auto windows_of = [&](int strip_px) { return strip_px / cell - cells + 1; };
    int windows = std::clamp(windows_of(px), 1, hog_spread_threads / (targets * targets));
    const int in_turns = windows_of((windows + cells - 1) * cell / hog_spread_threads * hog_spread_threads);
    if (8 * in_turns >= 7 * windows) windows = in_turns;
    return {windows, (windows + cells - 1) * cell};
}

/// What a plan keeps for spreading votes.
struct HogSpread {
    /// A cell of a window whose pixels vote in a histogram of the window.
    struct Way {
        int place, target;
    };

    HogSpread(const HogParameters& parameters, Executor& executor);

    SpreadAxis axis;
    SpreadStrip strip;      ///< CUDA
    std::vector<Way> ways;  ///< along an axis
    int lanes = 0;          ///< ways x ways, and so many more that they are whole vectors
    /// CPU: pixels of a cell x lanes, the products of both axes' weights. CUDA: those of the axis.
    BackendBuffer weights;
};

/// Lanes come in as many as the largest vector has.
inline constexpr int hog_spread_group = 16;

/// A batch's images and what comes of them.
struct SpreadImages {
    const std::uint8_t* gray;  ///< CPU: with gamma, and a border pixel at both ends of each row. CUDA: without both
    std::int64_t row_stride_bytes;
    int width, height;
    int cell, rows, columns;     ///< cells
    const std::uint8_t* tables;  ///< CUDA: the gammas, of 256 bytes
    HogRing ring;
    HogShape shape;  ///< of the histograms: windows x targets x targets x bins
    float* out;
};

/// The histograms of all windows of one frame, on the executor's threads.
void spread_votes(const HogSpread& spread, const SpreadImages& images, int frame, const Executor& executor);

/// Those of all frames, queued on the stream.
void spread_votes_on_device(const HogSpread& spread, const SpreadImages& images, const cuda::Stream& stream);

}  // namespace framewire
