#include "framewire/hog/spread.hpp"
#include "framewire/core/simd.hpp"
#include "framewire/hog/hog.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/hog/spread.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/hog/hog-inl.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#ifndef FRAMEWIRE_HOG_SPREAD_ROWS
#define FRAMEWIRE_HOG_SPREAD_ROWS

namespace framewire {
namespace {

// A range of rows of windows in one frame.
struct WindowRowsOfVotes {
    const HogSpread* spread;
    const SpreadImages* images;
    const std::uint8_t* gamma;  // first pixel of the frame, after the gamma
    float* out;                 // descriptors of the frame
    int begin, end;
};

constexpr int spread_piece_px = 128;  // pixels processed at a time in a row, or one cell
constexpr int most_ways = 3 * hog_most_block - 2;
constexpr int most_lanes = (most_ways * most_ways + hog_spread_group - 1) / hog_spread_group * hog_spread_group;

}  // namespace
}  // namespace framewire

#endif

// Spread votes on the CPU. A cell's pixels contribute to several histograms. The contributions of a cell to all of them
// ("ways") are computed at once, as lanes of vectors:
//
//     votes of the cell's pixels (slot, two shares)      x  weights of the pixel, one lane per pair of ways
//     -> sums[slot][lane] -> of_ways[bin][lane]          -> added to the histograms of the windows around the cell

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Votes of a cell: slots and both shares, row by row.
struct CellVotes {
    const std::int32_t* slots;
    const float* shares;
    int stride_px;
};

// Computes the contribution of a cell's pixels to each pair of ways, bin by bin: bins x lanes. Adjacent pixels
// often vote for the same bin and would wait for each other's sum, so they alternate between two histograms.
// `known_lanes` is the number of lanes at compile time, or 0.
template <int known_lanes>
HWY_INLINE void sum_ways(const HogSpread& spread, int cell, int bins, const CellVotes& votes, float* HWY_RESTRICT sums,
                         float* HWY_RESTRICT ways) {
    const hog_gradients::DF df;
    constexpr int step = static_cast<int>(hn::MaxLanes(df));
    const int lanes = known_lanes > 0 ? known_lanes : spread.lanes, slot_floats = 2 * lanes,
              turn_floats = (bins + 1) * slot_floats;
    std::memset(sums, 0, sizeof(float) * 2 * static_cast<std::size_t>(turn_floats));
    const auto* weights = spread.weights.as<float>();
    for (int y = 0; y < cell; ++y)
        for (int x = 0; x < cell; ++x, weights += lanes) {
            const int at = y * votes.stride_px + x;
            auto* sum = sums + (x & 1) * turn_floats + votes.slots[at] * slot_floats;
            const auto first = hn::Set(df, votes.shares[2 * at]), second = hn::Set(df, votes.shares[2 * at + 1]);
            for (int lane = 0; lane < lanes; lane += step) {
                const auto weight = hn::LoadU(df, weights + lane);
                hn::Store(hn::MulAdd(first, weight, hn::Load(df, sum + lane)), df, sum + lane);
                hn::Store(hn::MulAdd(second, weight, hn::Load(df, sum + lanes + lane)), df, sum + lanes + lane);
            }
        }
    for (int bin = 0; bin < bins; ++bin)
        for (int lane = 0; lane < lanes; lane += step) {
            const auto of_slot = [&](int slot, int share) HWY_ATTR {
                const auto* from = sums + slot * slot_floats + share * lanes + lane;
                return hn::Add(hn::Load(df, from), hn::Load(df, from + turn_floats));
            };
            auto sum = hn::Add(of_slot(bin, 1), of_slot(bin + 1, 0));
            if (bin == bins - 1) sum = hn::Add(sum, of_slot(0, 0));
            if (bin == 0) sum = hn::Add(sum, of_slot(bins, 1));
            hn::Store(sum, df, ways + bin * lanes + lane);
        }
}

}  // namespace

// Every histogram receives the contributions of its cells in raster order, regardless of how many rows are processed at
// once, so the result does not depend on the number of threads.
void window_rows_of_votes(const WindowRowsOfVotes& job) {
    using namespace hog_gradients;
    const auto& spread = *job.spread;
    const auto& images = *job.images;
    const auto& shape = images.shape;
    const auto& axis = spread.axis;
    const int cell = images.cell, bins = images.ring.bins, lanes = spread.lanes;
    const int ways = static_cast<int>(spread.ways.size());
    const DF df;
    const D32 d32;
    constexpr int stride_px = spread_piece_px + HWY_MAX_BYTES;
    HWY_ALIGN std::int32_t slots[hog_most_cell * stride_px];
    HWY_ALIGN float shares[2 * hog_most_cell * stride_px];
    HWY_ALIGN float sums[2 * (hog_most_bins + 1) * 2 * most_lanes];
    HWY_ALIGN float of_ways[hog_most_bins * most_lanes];
    std::fill_n(job.out + job.begin * shape.row_values(), (job.end - job.begin) * shape.row_values(), 0.0f);
    const int most = spread_piece_px / cell;
    const int end_row = std::min(images.rows, job.end - 1 - axis.before + axis.cells);
    for (int row = std::max(0, job.begin - axis.before); row < end_row; ++row)
        for (int first = 0; first < images.columns; first += most) {
            const int count = std::min(most, images.columns - first);
            for (int y = 0; y < cell; ++y) {
                // Rows are clamped to the image, which replicates its border.
                const auto line = [&](int at) {
                    return job.gamma + std::clamp(row * cell + at, 0, images.height - 1) * images.row_stride_bytes +
                           first * cell;
                };
                const HogRows rows{line(y - 1), line(y), line(y + 1), images.planes,
                                   images.height * images.row_stride_bytes};
                for_polar(
                    count * cell, images.ring,
                    [&](std::int64_t x) HWY_ATTR {
                        return gradient_at(
                            rows, x,
                            [](const std::uint8_t* above, const std::uint8_t* here, const std::uint8_t* below)
                                HWY_ATTR { return central(above, here, below); });
                    },
                    [&](std::int64_t x, const Polar& p) HWY_ATTR {
                        for (int i = 0; i < abreast; ++i) {
                            const auto vote = vote_of(p.magnitude[i], p.position[i], images.ring);
                            const auto at = y * stride_px + x + i * static_cast<int>(hn::Lanes(df));
                            hn::StoreU(vote.slot, d32, slots + at);
                            hn::StoreInterleaved2(vote.first, vote.second, df, shares + 2 * at);
                        }
                    });
            }
            for (int number = 0; number < count; ++number) {
                const CellVotes votes{slots + number * cell, shares + 2 * number * cell, stride_px};
                // This instance is for blocks with two cells per side, if their lanes fill several vectors.
                constexpr int usual_lanes = hn::MaxLanes(DF()) < hog_spread_group ? hog_spread_group : 0;
                if (lanes == usual_lanes)
                    sum_ways<usual_lanes>(spread, cell, bins, votes, sums, of_ways);
                else
                    sum_ways<0>(spread, cell, bins, votes, sums, of_ways);
                for (int up = 0; up < ways; ++up) {
                    const auto& rows = spread.ways[static_cast<std::size_t>(up)];
                    // The row of windows in which this cell is at place `rows.place`.
                    const int y = row + axis.before - rows.place;
                    if (y < job.begin || y >= job.end) continue;
                    for (int across = 0; across < ways; ++across) {
                        const auto& columns = spread.ways[static_cast<std::size_t>(across)];
                        const int x = first + number + axis.before - columns.place;
                        if (x < 0 || x >= shape.columns) continue;
                        auto* to = job.out + y * shape.row_values() + std::int64_t{x} * shape.values +
                                   (rows.target * axis.targets + columns.target) * bins;
                        const auto* from = of_ways + up * ways + across;
                        for (int bin = 0; bin < bins; ++bin) to[bin] += from[bin * lanes];
                    }
                }
            }
        }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(window_rows_of_votes);

void spread_votes(const HogSpread& spread, const SpreadImages& images, int frame, const Executor& executor) {
    const auto& pool = executor.pool();
    // There are few chunks, because cells at their edges are processed twice.
    const auto rows_each = (images.shape.rows + 2 * pool.threads() - 1) / (2 * pool.threads());
    pool.for_chunks(images.shape.rows, rows_each, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        HWY_DYNAMIC_DISPATCH(window_rows_of_votes)
        ({&spread, &images, images.gray + std::int64_t{frame} * images.planes * images.height * images.row_stride_bytes,
          images.out + frame * images.shape.rows * images.shape.row_values(), static_cast<int>(begin),
          static_cast<int>(end)});
    });
}

}  // namespace framewire

#endif

#if HWY_ONCE

namespace framewire {

// The window is the block itself, or a cell with a neighbour on each side.
SpreadAxis spread_axis(const HogParameters& parameters) {
    const bool blocks = parameters.norm != HogNorm::none && parameters.votes != HogVotes::cells;
    const double from_middle = parameters.votes == HogVotes::opencv ? 0 : 0.5;
    SpreadAxis axis{
        .before = blocks ? 0 : 1, .cells = blocks ? parameters.block : 3, .targets = blocks ? parameters.block : 1};
    const int side = axis.cells * parameters.cell, first = blocks ? 0 : 1;
    for (int target = 0; target < axis.targets; ++target)
        for (int pixel = 0; pixel < side; ++pixel) {
            const double centre = (first + target + 0.5) * parameters.cell;
            const double near = std::max(0.0, 1 - std::abs(pixel + 0.5 - centre) / parameters.cell);
            const double off = (pixel + from_middle - side / 2.0) / (side / 4.0);
            axis.weights.push_back(static_cast<float>(blocks ? near * std::exp(-off * off / 2) : near));
        }
    for (auto weights = axis.weights.begin(); weights != axis.weights.end(); weights += side) {
        SpreadAxis::Span span{0, side};
        while (span.begin < span.end && weights[span.begin] == 0) ++span.begin;
        while (span.end > span.begin && weights[span.end - 1] == 0) --span.end;
        axis.spans.push_back(span);
    }
    return axis;
}

// On the CPU, the weights of both axes are multiplied in advance for each pixel of a cell. On CUDA, the threads
// multiply them.
HogSpread::HogSpread(const HogParameters& parameters, Executor& executor)
    : axis(spread_axis(parameters)), strip(spread_strip(axis.cells, axis.targets, parameters.cell, parameters.bins)) {
    const int cell = parameters.cell, side = axis.cells * cell;
    const auto weight = [&](const Way& way, int pixel) {
        return axis.weights[static_cast<std::size_t>(way.target * side + way.place * cell + pixel)];
    };
    for (int place = 0; place < axis.cells; ++place)
        for (int target = 0; target < axis.targets; ++target) {
            const Way way{place, target};
            float most = 0;
            for (int pixel = 0; pixel < cell; ++pixel) most = std::max(most, weight(way, pixel));
            if (most > 0) ways.push_back(way);
        }
    if (executor.backend() == Backend::cuda) {
        weights = BackendBuffer(axis.weights.size() * sizeof(float), executor);
        weights.put(axis.weights.data(), weights.bytes());
        return;
    }
    const int count = static_cast<int>(ways.size());
    lanes = (count * count + hog_spread_group - 1) / hog_spread_group * hog_spread_group;
    weights = BackendBuffer(static_cast<std::size_t>(cell * cell * lanes) * sizeof(float), executor);
    weights.fill(0);
    auto* to = weights.as<float>();
    for (int y = 0; y < cell; ++y)
        for (int x = 0; x < cell; ++x, to += lanes)
            for (int up = 0; up < count; ++up)
                for (int across = 0; across < count; ++across)
                    to[up * count + across] = weight(ways[static_cast<std::size_t>(up)], y) *
                                              weight(ways[static_cast<std::size_t>(across)], x);
}

}  // namespace framewire

#endif  // HWY_ONCE
