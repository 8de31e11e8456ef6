#pragma once

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

inline constexpr int hog_spread_threads = 128;        ///< of a block, each with a histogram
inline constexpr int hog_spread_most_strip_px = 768;  ///< of a strip

/// As many windows as there are threads or pixels for; one always fits.
constexpr SpreadStrip spread_strip(int cells, int targets, int cell) {
    const int windows =
        std::clamp(hog_spread_most_strip_px / cell - cells + 1, 1, hog_spread_threads / (targets * targets));
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
