#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/hog/hog.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

// Votes that are spread over neighbouring cells (Dalal and Triggs 2005, sections 6.3 and 6.4); Hog uses them
// with central gradients.

namespace framewire {

/// Distribution of votes along one axis; both axes are alike. A window is the area that one row and column of
/// descriptors comes from. With a norm it is a block of cells, whose votes stay in it and count less the
/// further they are from its middle. Without a norm it is a cell and its neighbours, of which only the middle
/// one has a histogram.
struct SpreadAxis {
    int before = 0;   ///< cells between the start of the window and the descriptor's own cell
    int cells = 0;    ///< cells of the window
    int targets = 0;  ///< cells of the window that have a histogram
    /// Weights of votes: targets x pixels of the window. A cell receives the more, the nearer the pixel is to
    /// its centre: everything there, and nothing from one cell side away on. With a norm this is multiplied by
    /// exp(-d^2 / (2 s^2)), where d is the distance of the pixel from the middle of the block and s a quarter
    /// of its side, as in OpenCV's HOGDescriptor.
    std::vector<float> weights{};

    /// Half-open range of pixels of the window.
    struct Span {
        int begin, end;
    };
    std::vector<Span> spans{};  ///< per target the pixels with a weight above 0
};
/// Returns the distribution for the parameters.
SpreadAxis spread_axis(const HogParameters& parameters);

/// Number of adjacent windows that a GPU block handles, and the pixels in one of their rows.
struct SpreadStrip {
    int windows, px;
};

inline constexpr int hog_spread_threads = 128;  ///< threads per block, each with one histogram

/// Returns the number of votes in a block's shared memory, in whole groups of eight.
FRAMEWIRE_HOST_DEVICE constexpr int spread_votes(int strip_px) { return (strip_px + 7) / 8 * 8; }

/// Returns the shared memory of a block: histograms, the votes of a strip, and the gamma table.
constexpr int spread_memory_bytes(int strip_px, int bins) {
    return (bins + 1) * hog_spread_threads * 8 + spread_votes(strip_px) * 16 + 256;
}

/// Returns as many windows as threads and pixels allow, at least one. Threads share the pixels of a row in
/// turns; a last turn with few pixels is avoided.
constexpr SpreadStrip spread_strip(int cells, int targets, int cell, int bins) {
    constexpr int memory_bytes = 48 * 1024, most_px = 768;  // guaranteed by every GPU; more pixels are not faster
    const int px = std::min(most_px, (memory_bytes - spread_memory_bytes(0, bins)) / 128 * 8);
    const auto windows_of = [&](int strip_px) { return strip_px / cell - cells + 1; };
    int windows = std::clamp(windows_of(px), 1, hog_spread_threads / (targets * targets));
    const int in_turns = windows_of((windows + cells - 1) * cell / hog_spread_threads * hog_spread_threads);
    if (8 * in_turns >= 7 * windows) windows = in_turns;
    return {windows, (windows + cells - 1) * cell};
}

/// Tables and memory of a plan for spreading votes.
struct HogSpread {
    /// A cell of a window whose pixels vote for a histogram of the window.
    struct Way {
        int place, target;
    };

    HogSpread(const HogParameters& parameters, Executor& executor);

    SpreadAxis axis;
    SpreadStrip strip;      ///< CUDA
    std::vector<Way> ways;  ///< along one axis
    int lanes = 0;          ///< ways x ways, padded to whole vectors
    /// CPU: pixels of a cell x lanes, the products of both axes' weights. CUDA: the weights of one axis.
    BackendBuffer weights;
};

/// Lanes are padded to a multiple of this: the lanes of the largest vector.
inline constexpr int hog_spread_group = 16;

/// The images of a batch, and the destination of their histograms.
struct SpreadImages {
    const std::uint8_t* gray;  ///< CPU: gamma applied, with a border pixel at both ends of each row. CUDA: neither
    std::int64_t row_stride_bytes;
    int width, height;
    int cell, rows, columns;     ///< size of a cell in pixels; number of whole cells
    const std::uint8_t* tables;  ///< CUDA: gamma tables of 256 bytes each
    HogRing ring;
    HogShape shape;  ///< shape of the histograms: windows x targets x targets x bins
    float* out;
};

/// Computes the histograms of all windows of one frame on the executor's threads; returns when done.
void spread_votes(const HogSpread& spread, const SpreadImages& images, int frame, const Executor& executor);

/// Computes the histograms of all frames, queued on the stream.
void spread_votes_on_device(const HogSpread& spread, const SpreadImages& images, const cuda::Stream& stream);

}  // namespace framewire
