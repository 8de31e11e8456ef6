#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/hog/hog.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

// Votes that are spread over neighbouring cells (Dalal and Triggs 2005, sections 6.3 and 6.4). Hog uses them with
// central gradients.

namespace framewire {

/// Distribution of votes along one axis; it is the same for both axes. A window is the area that contributes to one row
/// and column of descriptors. If a norm's blocks have separate histograms, it is a block of cells: their votes stay in
/// the block and count less the further they are from its middle. Without a norm, or with HogVotes::cells, it is a cell
/// and its neighbours; only the cell in the middle has a histogram.
struct SpreadAxis {
    int before = 0;   ///< number of cells between the start of the window and the descriptor's own cell
    int cells = 0;    ///< number of cells in the window
    int targets = 0;  ///< number of cells of the window that have a histogram
    /// Weights of votes: targets x pixels of the window. The nearer a pixel is to the centre of a cell, the more the
    /// cell receives: everything at the centre, and nothing from a distance of one cell side on. In a block, this is
    /// multiplied by exp(-d^2 / (2 s^2)), where d is the distance of the pixel from the middle of the block and s is a
    /// quarter of the block's side. With HogVotes::opencv, d is measured from half a pixel after the middle.
    std::vector<float> weights{};

    /// Half-open range of pixels of the window.
    struct Span {
        int begin, end;
    };
    std::vector<Span> spans{};  ///< for each target, the pixels with a weight above 0
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

/// Returns the bytes of shared memory of a block: histograms, the votes of a strip, and the gamma table.
constexpr int spread_memory_bytes(int strip_px, int bins) {
    return (bins + 1) * hog_spread_threads * 8 + spread_votes(strip_px) * 16 + 256;
}

/// Returns as many windows as threads and pixels allow, at least one. Threads take turns with the pixels of a row; a
/// last turn with few pixels is avoided.
constexpr SpreadStrip spread_strip(int cells, int targets, int cell, int bins) {
    // Memory that every GPU guarantees; more pixels are not faster.
    constexpr int memory_bytes = 48 * 1024, most_px = 768;
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
    SpreadStrip strip;      ///< CUDA only: division into strips
    std::vector<Way> ways;  ///< along one axis
    int lanes = 0;          ///< ways x ways, padded to whole vectors
    /// CPU: products of both axes' weights, pixels of a cell x lanes. CUDA: weights of one axis.
    BackendBuffer weights;
};

/// Number of lanes of the largest vector; HogSpread::lanes is a multiple of it.
inline constexpr int hog_spread_group = 16;

/// The images of a batch, and the destination of their histograms.
struct SpreadImages {
    /// CPU: with gamma applied, and a border pixel at both ends of each row; CUDA: without both.
    const std::uint8_t* gray;
    std::int64_t row_stride_bytes;
    int planes;  ///< planes of each frame, one after another
    int width, height;
    int cell, rows, columns;     ///< size of a cell in pixels; number of whole cells
    const std::uint8_t* tables;  ///< CUDA only: gamma tables of 256 bytes each
    HogRing ring;
    HogShape shape;  ///< shape of the histograms: windows x targets x targets x bins
    float* out;
};

/// Computes the histograms of all windows of one frame on the executor's threads and returns when done.
void spread_votes(const HogSpread& spread, const SpreadImages& images, int frame, const Executor& executor);

/// Queues the computation of the histograms of all frames on the stream.
void spread_votes_on_device(const HogSpread& spread, const SpreadImages& images, const cuda::Stream& stream);

}  // namespace framewire
