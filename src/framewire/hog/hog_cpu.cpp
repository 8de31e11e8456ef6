#include "framewire/hog/hog_cpu.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/simd/simd.hpp"
#include "framewire/filters/binarize/gray_histogram.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/hog_scratch.hpp"
#include "framewire/hog/spread/spread.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/hog/hog_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "framewire/hog/gradients-inl.hpp"

#ifndef FRAMEWIRE_HOG_CELL_ROW
#define FRAMEWIRE_HOG_CELL_ROW

namespace framewire {
namespace {

// One row of cells of one frame.
struct CellRow {
    const std::uint8_t* gamma;  // the frame's first pixel
    std::int64_t row_stride_bytes;
    int height, first_y, cell, cells;
    float* out;  // cells x bins
};

// One row of blocks of one frame.
struct BlockRow {
    const float* cells;  // of its first row of cells
    std::int64_t cell_row_values;
    int columns, block, bins;
    float* out;
};

constexpr int piece_px = 128;  // of a row at a time, or a cell
constexpr int few_turns = 4, most_turns = 8;

}  // namespace
}  // namespace framewire

#endif

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using namespace hog_gradients;

}  // namespace

// `gray` may be `row`.
void gamma_row(const std::uint8_t* gray, std::int64_t pixels, const std::uint8_t* table, std::uint8_t* row) {
    std::int64_t x = 0;
#if HWY_TARGET == HWY_AVX3_DL
    // The table in four registers: a permutation looks 64 pixels up in two of them.
    const hn::FixedTag<std::uint8_t, 64> d;
    const auto first = hn::LoadU(d, table).raw, second = hn::LoadU(d, table + 64).raw,
               third = hn::LoadU(d, table + 128).raw, fourth = hn::LoadU(d, table + 192).raw;
    for (; x + 64 <= pixels; x += 64) {
        const auto index = hn::LoadU(d, gray + x).raw;
        const auto dark = _mm512_permutex2var_epi8(first, index, second),
                   light = _mm512_permutex2var_epi8(third, index, fourth);
        hn::StoreU(hn::VFromD<decltype(d)>{_mm512_mask_blend_epi8(_mm512_movepi8_mask(index), dark, light)}, d,
                   row + x);
    }
#endif
    for (; x < pixels; ++x) row[x] = table[gray[x]];
}

void gradient_row(const std::uint8_t* above, const std::uint8_t* row, const std::uint8_t* below, std::int64_t pixels,
                  HogGradient gradient, const HogRing& ring, const HogGradients& out) {
    const D16 d16;
    const DF df;
    for_polar(
        pixels, ring,
        [&](std::int64_t x) HWY_ATTR {
            const auto there = gradient == HogGradient::central ? central(above + x, row + x, below + x)
                                                                : sobel(above + x, row + x, below + x);
            hn::StoreU(there.x, d16, out.gx + x);
            hn::StoreU(there.y, d16, out.gy + x);
            return there;
        },
        [&](std::int64_t x, const Polar& p) HWY_ATTR {
            hn::StoreU(p.magnitude, df, out.magnitude + x);
            const auto whole = hn::Ge(p.position, hn::Set(df, ring.whole));
            hn::StoreU(hn::IfThenZeroElse(whole, p.position), df, out.position + x);
        });
}

// Both shares of a vote go to one place, at most bins + 1 of them. Several histograms a cell take turns, for neighbours
// often vote alike and would wait for each other: eight, or four where eight would leave little of L1.
void cell_row(const CellRow& cells, const HogRing& ring) {
    const int turns = cells.cell < 8 || ring.bins > 18 ? few_turns : most_turns;
    const DF df;
    const D32 d32;
    const hn::CappedTag<float, 2> pair;
    HWY_ALIGN std::int32_t places[piece_px + HWY_MAX_BYTES];
    HWY_ALIGN float votes[2 * (piece_px + HWY_MAX_BYTES)];
    HWY_ALIGN float sums[piece_px * (hog_most_bins + 1) * 2 + HWY_MAX_BYTES];
    const int slot_count = ring.bins + 1, turn_floats = 2 * slot_count;
    // Of a vector at a multiple of 8 pixels, and, where vectors have fewer, of the one behind it.
    const auto turn_places = [&](int x) HWY_ATTR {
        return hn::Mul(hn::And(hn::Iota(d32, x), hn::Set(d32, turns - 1)), hn::Set(d32, turn_floats));
    };
    const auto even_places = turn_places(0), odd_places = turn_places(static_cast<int>(hn::Lanes(d32)));
    const int most = piece_px / cells.cell;
    for (int first = 0; first < cells.cells; first += most) {
        const int count = std::min(most, cells.cells - first);
        std::memset(sums, 0, sizeof(float) * static_cast<std::size_t>(count * turns * turn_floats));
        for (int y = cells.first_y; y < cells.first_y + cells.cell; ++y) {
            const auto row = [&](int at) {
                return cells.gamma + std::clamp(at, 0, cells.height - 1) * cells.row_stride_bytes + first * cells.cell;
            };
            const auto *above = row(y - 1), *here = row(y), *below = row(y + 1);
            for_polar(
                count * cells.cell, ring,
                [&](std::int64_t x) HWY_ATTR { return sobel(above + x, here + x, below + x); },
                [&](std::int64_t x, const Polar& p) HWY_ATTR {
                    const auto vote = vote_of(p);
                    hn::StoreU(hn::Add(hn::ShiftLeft<1>(vote.slot), x % 8 == 0 ? even_places : odd_places), d32,
                               places + x);
                    hn::StoreInterleaved2(vote.first, vote.second, df, votes + 2 * x);
                });
            const auto* vote = votes;
            const auto* place = places;
            for (int cell = 0; cell < count; ++cell) {
                auto* cell_sums = sums + cell * turns * turn_floats;
#pragma GCC unroll 4
                for (int x = 0; x < cells.cell; ++x, vote += 2, ++place) {
                    auto* sum = cell_sums + *place;
                    hn::StoreU(hn::Add(hn::LoadU(pair, sum), hn::LoadU(pair, vote)), pair, sum);
                }
            }
        }
        for (int cell = 0; cell < count; ++cell) {
            auto* sum = sums + cell * turns * turn_floats;
            // Whole vectors: what is too much of a turn's falls on what is read no more.
            for (int i = 0; i < turn_floats; i += static_cast<int>(hn::Lanes(df))) {
                const auto pair_of = [&](int one, int other) HWY_ATTR {
                    return hn::Add(hn::LoadU(df, sum + one * turn_floats + i),
                                   hn::LoadU(df, sum + other * turn_floats + i));
                };
                const auto all = turns == most_turns ? hn::Add(hn::Add(pair_of(0, 4), pair_of(2, 6)),
                                                               hn::Add(pair_of(1, 5), pair_of(3, 7)))
                                                     : hn::Add(pair_of(0, 2), pair_of(1, 3));
                hn::StoreU(all, df, sum + i);
            }
            auto* out = cells.out + std::int64_t{first + cell} * ring.bins;
            for (int bin = 0; bin < ring.bins; bin += static_cast<int>(hn::Lanes(df))) {
                hn::VFromD<DF> second, first;
                hn::LoadInterleaved2(df, sum + 2 * bin + 1, second, first);
                const auto own = hn::FirstN(df, static_cast<std::size_t>(ring.bins - bin));
                hn::BlendedStore(hn::Add(second, first), own, df, out + bin);
            }
            out[ring.bins - 1] += sum[0];
            out[0] += sum[2 * ring.bins + 1];
        }
    }
}

// Loads take whole vectors and drop what is not of the block; stores put out whole ones, for the next run or block
// overwrites what is too much. Only the row's last blocks must keep to their place.
void norm_row(const BlockRow& blocks, HogNorm norm) {
    const DF df;
    const auto step = static_cast<std::int64_t>(hn::Lanes(df));
    const auto run = std::int64_t{blocks.block} * blocks.bins, values = run * blocks.block;
    const bool held = norm == HogNorm::l2hys;
    const auto most = hn::Set(df, held ? hog_largest_share : std::numeric_limits<float>::infinity());
    const auto one = hn::Set(df, 1.0f);
    const auto reach = values - run + (run + step - 1) / step * step;  // of a block's stores
    HWY_ALIGN float last[hog_most_block * hog_most_block * hog_most_bins + HWY_MAX_BYTES];
    for (int x = 0; x < blocks.columns; ++x) {
        const auto* cells = blocks.cells + std::int64_t{x} * blocks.bins;
        // Calls body(place in the block, values times `scale`, none above `most`).
        const auto for_vectors = [&](VF scale, VF above, auto&& body) HWY_ATTR {
            for (int y = 0; y < blocks.block; ++y)
                for (std::int64_t i = 0; i < run; i += step) {
                    const auto whole = hn::LoadU(df, cells + y * blocks.cell_row_values + i);
                    const auto own = hn::FirstN(df, static_cast<std::size_t>(std::min(step, run - i)));
                    body(y * run + i, hn::Min(hn::Mul(hn::IfThenElseZero(own, whole), scale), above));
                }
        };
        const auto scale_of = [&](VF scale, VF above) HWY_ATTR {
            auto sum = hn::Zero(df);
            for_vectors(scale, above, [&](std::int64_t, VF value) HWY_ATTR { sum = hn::MulAdd(value, value, sum); });
            // One root and one division: of whole vectors they take several times as long.
            return hn::Set(df, 1 / std::sqrt(hn::GetLane(hn::SumOfLanes(df, sum)) + hog_epsilon_squared));
        };
        const auto first = scale_of(one, hn::Set(df, std::numeric_limits<float>::infinity()));
        const auto second = held ? scale_of(first, most) : one;
        auto* out = blocks.out + x * values;
        const bool fits = reach <= (blocks.columns - x) * values;
        auto* to = fits ? out : last;
        for_vectors(first, most,
                    [&](std::int64_t at, VF value) HWY_ATTR { hn::StoreU(hn::Mul(value, second), df, to + at); });
        if (!fits) std::copy_n(last, values, out);
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(cell_row);
HWY_EXPORT(gamma_row);
HWY_EXPORT(gradient_row);
HWY_EXPORT(norm_row);

std::array<std::uint8_t, 256> hog_gamma_table(const Histogram& histogram) {
    std::uint64_t pixels = 0, below = 0;
    for (const auto count : histogram) pixels += count;
    HogLevels levels{};
    for (int bin = 0; bin < hog_gamma_bins; ++bin) {
        const int edge = bin * hog_levels_per_bin;
        auto through = below;
        for (int level = edge; level < edge + hog_levels_per_bin; ++level) {
            const auto count = histogram[static_cast<std::size_t>(level)];
            through += count;
            if (count > 0) levels.largest = level;
        }
        if (hog_reaches(below, through, pixels, 5)) levels.low = edge;
        if (hog_reaches(below, through, pixels, 50)) levels.mid = edge;
        if (hog_reaches(below, through, pixels, 95)) levels.high = edge;
        below = through;
    }
    const auto exponent = hog_gamma_exponent(levels);
    std::array<std::uint8_t, 256> table;
    for (int gray = 0; gray < 256; ++gray) table[static_cast<std::size_t>(gray)] = hog_gamma(gray, levels, exponent);
    return table;
}

void hog_gamma_row(const std::uint8_t* gray, std::int64_t pixels, const std::uint8_t* table, std::uint8_t* row) {
    HWY_DYNAMIC_DISPATCH(gamma_row)(gray, pixels, table, row);
    row[-1] = row[0];
    row[pixels] = row[pixels - 1];
}

void hog_gradient_row(const std::uint8_t* above, const std::uint8_t* row, const std::uint8_t* below,
                      std::int64_t pixels, HogGradient gradient, const HogRing& ring, const HogGradients& out) {
    HWY_DYNAMIC_DISPATCH(gradient_row)(above, row, below, pixels, gradient, ring, out);
}

std::uint8_t* Hog::gray_row(int frame, std::int64_t y) const {
    return gray_.data() + (std::int64_t{frame} * shape_.height + y) * row_stride_bytes_ + hog_cpu_row_begin;
}

// Calls body(band, frame, first row, end row) for the bands of every frame, in parallel.
template <class Body>
void Hog::for_bands(Body&& body) const {
    const auto bands = std::int64_t{shape_.frames} * bands_;
    executor_->pool().for_chunks(bands, 1, [&](std::int64_t band, std::int64_t, std::int64_t) {
        const auto number = band % bands_;
        body(band, static_cast<int>(band / bands_), static_cast<int>(number * shape_.height / bands_),
             static_cast<int>((number + 1) * shape_.height / bands_));
    });
}

void Hog::run(HostView<const std::uint8_t> frames, HogView<float, MemorySpace::host> out) {
    validate(frames, shape_, "hog's image");
    const auto count = [&](int frame, const RowRange& rows, std::int64_t band) {
        count_gray_groups(frames.frames(frame, 1), rows.begin, rows.end, gray_row(frame, rows.begin), row_stride_bytes_,
                          counts_.as<Histogram>()[band]);
    };
    const bool own_gray = shape_.channels == 1;
    run_bands(
        count, [&](int frame, int y) { return own_gray ? frames.row(frame, y) : gray_row(frame, y); }, out);
}

void Hog::run(const MakeRows& make, HogView<float, MemorySpace::host> out) {
    if (!goes_by_rows()) fail(ErrorCode::usage, "rows for a hog of whole images");
    const auto count = [&](int, const RowRange& rows, std::int64_t band) {
        count_gray_groups(make, shape_.width, rows, gray_row(0, rows.begin), row_stride_bytes_,
                          counts_.as<Histogram>()[band]);
    };
    run_bands(
        count, [&](int frame, int y) { return gray_row(frame, y); }, out);
}

// count(frame, rows, band) puts out a band's histogram and makes its gray; gray_at(frame, y) is a row of it then.
template <class Count, class GrayAt>
void Hog::run_bands(Count&& count, GrayAt&& gray_at, HogView<float, MemorySpace::host> out) {
    check(out.shape());
    const auto& pool = executor_->pool();
    auto* histograms = counts_.as<Histogram>();
    for_bands([&](std::int64_t band, int frame, int begin, int end) { count(frame, RowRange{begin, end}, band); });
    pool.for_chunks(shape_.frames, 1, [&](std::int64_t frame, std::int64_t, std::int64_t) {
        auto& sum = histograms[frame * bands_];
        for (int band = 1; band < bands_; ++band)
            for (std::size_t level = 0; level < sum.size(); ++level)
                sum[level] += histograms[frame * bands_ + band][level];
        const auto table = hog_gamma_table(sum);
        std::copy(table.begin(), table.end(), tables_.data() + frame * 256);
    });
    for_bands([&](std::int64_t, int frame, int begin, int end) {
        for (int y = begin; y < end; ++y) {
            hog_gamma_row(gray_at(frame, y), shape_.width, tables_.data() + frame * 256, gray_row(frame, y));
        }
    });
    const bool normed = parameters_.norm != HogNorm::none;
    const HogView<float, MemorySpace::host> cells =
        normed ? HogView<float, MemorySpace::host>(cells_.as<float>(), cells_shape_) : out;
    const auto ring = hog_ring(parameters_.bins, parameters_.signed_gradients);
    const int cell = parameters_.cell;
    if (spread_) {
        const SpreadImages images{gray_row(0, 0), row_stride_bytes_,    shape_.width,        shape_.height,
                                  cell,           shape_.height / cell, shape_.width / cell, nullptr,
                                  ring,           cells_shape_,         cells.data()};
        for (int frame = 0; frame < shape_.frames; ++frame) spread_votes(*spread_, images, frame, *executor_);
    } else {
        pool.for_chunks(std::int64_t{shape_.frames} * cells_shape_.rows, 1,
                        [&](std::int64_t row, std::int64_t, std::int64_t) {
                            const auto frame = static_cast<int>(row / cells_shape_.rows),
                                       y = static_cast<int>(row % cells_shape_.rows);
                            HWY_DYNAMIC_DISPATCH(cell_row)
                            (CellRow{gray_row(frame, 0), row_stride_bytes_, shape_.height, y * cell, cell,
                                     cells_shape_.columns, cells.row(frame, y)},
                             ring);
                        });
    }
    if (!normed) return;
    // Of spread votes every block has histograms of its own.
    const int block = spread_ ? 1 : parameters_.block;
    pool.for_chunks(std::int64_t{shape_.frames} * output_shape_.rows, 1,
                    [&](std::int64_t row, std::int64_t, std::int64_t) {
                        const auto frame = static_cast<int>(row / output_shape_.rows),
                                   y = static_cast<int>(row % output_shape_.rows);
                        HWY_DYNAMIC_DISPATCH(norm_row)
                        (BlockRow{cells.row(frame, y), cells_shape_.row_values(), output_shape_.columns, block,
                                  cells_shape_.values, out.row(frame, y)},
                         parameters_.norm);
                    });
}

}  // namespace framewire

#endif
