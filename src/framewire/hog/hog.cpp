#include "framewire/hog/hog.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/simd.hpp"
#include "framewire/filters/binarize.hpp"
#include "framewire/filters/gray.hpp"
#include "framewire/hog/near_levels.hpp"
#include "framewire/hog/spread.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/hog/hog.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/core/simd-inl.hpp"
#include "framewire/hog/hog-inl.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#ifndef FRAMEWIRE_HOG_CELL_ROW
#define FRAMEWIRE_HOG_CELL_ROW

namespace framewire {
namespace {

// One row of cells in one frame.
struct CellRow {
    const std::uint8_t* gamma;  // first pixel of the frame, after the gamma
    std::int64_t row_stride_bytes;
    int height, first_y, cell, cells;
    float* out;  // cells x bins
};

// One row of blocks in one frame.
struct BlockRow {
    const float* cells;  // first row of the block's cells
    std::int64_t cell_row_values;
    int columns, block, bins;
    float* out;
    bool clipped;  // true: l2hys and opencv
    HogLengths lengths;
};

constexpr int piece_px = 128;  // pixels processed at a time in a row, or one cell
constexpr int few_turns = 4, most_turns = 8;

}  // namespace
}  // namespace framewire

#endif

// HOG on the CPU. A run has up to four parallel passes, with a barrier between them because each pass needs the whole
// frame of the previous one:
//
//     1. bands of rows    gray, and counts of its levels          count_bands(), or count_near() after the first frame
//     2. bands of rows    gamma, applied to the gray image        describe(), gamma_row()
//     3. rows of cells    gradients, votes, histograms            cell_row(), or spread_votes()
//     4. rows of blocks   normalisation, only with a norm         norm_row()

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using namespace hog_gradients;

}  // namespace

// Applies the table to a row. `gray` may be the same memory as `row`.
void gamma_row(const std::uint8_t* gray, std::int64_t pixels, const std::uint8_t* table, std::uint8_t* row) {
    std::int64_t x = 0;
#if HWY_TARGET == HWY_AVX3_DL
    // The table is in four registers; one permutation looks up 64 pixels in two of them.
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
#else
    // Each lookup covers one sixteenth of the table. All sixteen are looked up, and the upper bits of the pixel select
    // the result.
    const hn::ScalableTag<std::uint8_t> d;
    const hn::RebindToSigned<decltype(d)> di;
    const hn::Repartition<std::uint16_t, decltype(d)> d16;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d));
    for (; x + step <= pixels; x += step) {
        const auto index = hn::LoadU(d, gray + x), place = hn::And(index, hn::Set(d, 15));
        const auto words = hn::BitCast(d16, index);
        // Moves the selecting bit to the sign.
        const hn::Vec<decltype(di)> bits[] = {hn::BitCast(di, hn::ShiftLeft<3>(words)),
                                              hn::BitCast(di, hn::ShiftLeft<2>(words)),
                                              hn::BitCast(di, hn::ShiftLeft<1>(words)), hn::BitCast(di, index)};
        // Looks up sixteenth `i` of the table; two(), four() and eight() each select between results by one bit of the
        // pixel.
        const auto part = [&](int i) HWY_ATTR {
            return hn::BitCast(di, hn::TableLookupBytes(hn::LoadDup128(d, table + 16 * i), place));
        };
        const auto two = [&](int i) HWY_ATTR { return hn::IfNegativeThenElse(bits[0], part(i + 1), part(i)); };
        const auto four = [&](int i) HWY_ATTR { return hn::IfNegativeThenElse(bits[1], two(i + 2), two(i)); };
        const auto eight = [&](int i) HWY_ATTR { return hn::IfNegativeThenElse(bits[2], four(i + 4), four(i)); };
        hn::StoreU(hn::BitCast(d, hn::IfNegativeThenElse(bits[3], eight(8), eight(0))), d, row + x);
    }
#endif
    for (; x < pixels; ++x) row[x] = table[gray[x]];
}

// Splits BGR pixels into planes, the remainder of a row pixel by pixel.
void split_row(const std::uint8_t* bgr, std::int64_t pixels, std::uint8_t* const* planes) {
    const hn::ScalableTag<std::uint8_t> d;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t x = 0;
    for (; x + step <= pixels; x += step) {
        hn::Vec<decltype(d)> b, g, r;
        hn::LoadInterleaved3(d, bgr + 3 * x, b, g, r);
        hn::StoreU(b, d, planes[0] + x);
        hn::StoreU(g, d, planes[1] + x);
        hn::StoreU(r, d, planes[2] + x);
    }
    for (; x < pixels; ++x)
        for (int plane = 0; plane < 3; ++plane) planes[plane][x] = bgr[3 * x + plane];
}

// Computes gradients, magnitudes and positions of a row, for the pictures of the steps.
void gradient_row(const HogRows& rows, std::int64_t pixels, HogGradient gradient, const HogRing& ring,
                  const HogGradients& out) {
    const D16 d16;
    const DF df;
    for_polar(
        pixels, ring,
        [&](std::int64_t x) HWY_ATTR {
            const auto there = gradient_at(
                rows, x, [&](const std::uint8_t* above, const std::uint8_t* row, const std::uint8_t* below) HWY_ATTR {
                    return gradient == HogGradient::central ? central(above, row, below) : sobel(above, row, below);
                });
            hn::StoreU(there.x, d16, out.gx + x);
            hn::StoreU(there.y, d16, out.gy + x);
            return there;
        },
        [&](std::int64_t x, const Polar& p) HWY_ATTR {
            for (int i = 0; i < abreast; ++i) {
                const auto at = x + i * static_cast<std::int64_t>(hn::Lanes(df));
                hn::StoreU(p.magnitude[i], df, out.magnitude + at);
                // Rounding can turn a value just below 0 into a whole turn.
                const auto turned_on = hn::Add(p.position[i], hn::Set(df, ring.whole));
                const auto position = hn::IfThenElse(hn::Lt(p.position[i], hn::Zero(df)), turned_on, p.position[i]);
                hn::StoreU(hn::IfThenZeroElse(hn::Ge(position, hn::Set(df, ring.whole)), position), df,
                           out.position + at);
            }
        });
}

namespace {

// Histograms of neighbouring cells, and the votes of one row of their pixels. Both shares of a vote go to one of bins +
// 1 slots. Adjacent pixels often vote for the same bin and would wait for each other's sum, so they alternate between
// several histograms per cell: eight, or four if eight would leave too little of the L1 cache.
class CellSums {
public:
    CellSums(int cell, const HogRing& ring)
        : turns_(cell < 8 || ring.bins > 18 ? few_turns : most_turns), slots_(ring.bins + 1), bins_(ring.bins) {
        const int turn_places = 2 * slots_, most = piece_px / cell;
        int x = 0;
        for (int number = 0; number < most; ++number)
            for (int column = 0; column < cell; ++column, ++x)
                firsts_[x] = (number * turns_ + column % turns_) * slots_;
        // Pixels after the last cell, which whole vectors include, vote here.
        std::fill_n(firsts_ + x, piece_px + vote_room - x, most * turns_ * slots_);
        std::memset(sums_, 0, sizeof(float) * static_cast<std::size_t>(most * turns_ * turn_places));
    }

    // Stores the votes of one vector of pixels, starting at `x`.
    HWY_INLINE void put(std::int64_t x, const Vote& vote) {
        const DF df;
        const D32 d32;
        hn::Store(hn::Add(vote.slot, hn::Load(d32, firsts_ + x)), d32, places_ + x);
        hn::Store(hn::InterleaveLower(df, vote.first, vote.second), df, votes_ + 2 * x);
        hn::Store(hn::InterleaveUpper(df, vote.first, vote.second), df, votes_ + 2 * x + vote_lanes);
    }

    // Adds the votes of `pixels` pixels to the histograms.
    HWY_INLINE void add(int pixels) {
        const hn::CappedTag<float, 2> pair;
        for (int x = 0; x < pixels; x += vote_lanes) {
            const auto* places = places_ + x;
            const auto* votes = votes_ + 2 * x;
#pragma GCC unroll 16
            for (int lane = 0; lane < vote_lanes; ++lane) {
                // Two of four adjacent pixels are in one vector of interleaved shares, the other two in the second
                // vector.
                const int at = lane / 4 * 4 + lane % 2 * 2 + (lane % 4 < 2 ? 0 : vote_lanes);
                auto* const sum = sums_ + 2 * std::int64_t{places[lane]};
                hn::StoreU(hn::Add(hn::LoadU(pair, sum), hn::LoadU(pair, votes + at)), pair, sum);
            }
        }
    }

    // Writes the histograms of the first `count` cells and clears all histograms.
    HWY_INLINE void finish(int count, float* out) {
        const DF df;
        const int turn_places = 2 * slots_, step = static_cast<int>(hn::Lanes(df));
        // Each step handles all cells before the next step starts, because reading data at a different width right
        // after it was written stalls (failed store forwarding).
        for (int cell = 0; cell < count; ++cell) {
            const auto* const sum = sums_ + cell * turns_ * turn_places;
            // Processes whole vectors: the excess of one histogram overwrites data that is no longer read.
            for (int i = 0; i < turn_places; i += step) {
                const auto pair_of = [&](int one, int other) HWY_ATTR {
                    return hn::Add(hn::LoadU(df, sum + one * turn_places + i),
                                   hn::LoadU(df, sum + other * turn_places + i));
                };
                // The histograms of a cell are added in pairs, in a fixed order.
                const auto all = turns_ == most_turns ? hn::Add(hn::Add(pair_of(0, 4), pair_of(2, 6)),
                                                                hn::Add(pair_of(1, 5), pair_of(3, 7)))
                                                      : hn::Add(pair_of(0, 2), pair_of(1, 3));
                hn::StoreU(all, df, sums_ + cell * turn_places + i);
            }
        }
        for (int cell = 0; cell < count; ++cell) {
            auto* const sum = sums_ + cell * turn_places;
            // Closes the ring: the first share of slot 0 belongs to the last bin, and the second share of slot `bins`
            // to the first bin.
            sum[2 * bins_] += sum[0];
            sum[1] += sum[2 * bins_ + 1];
        }
        for (int cell = 0; cell < count; ++cell)
            for (int bin = 0; bin < bins_; bin += step) {
                VF second, first;
                hn::LoadInterleaved2(df, sums_ + cell * turn_places + 2 * bin + 1, second, first);
                const auto own = hn::FirstN(df, static_cast<std::size_t>(bins_ - bin));
                hn::BlendedStore(hn::Add(second, first), own, df, out + cell * bins_ + bin);
            }
        std::memset(sums_, 0, sizeof(float) * static_cast<std::size_t>(count * turns_ * turn_places));
    }

private:
    static constexpr int vote_lanes = static_cast<int>(hn::MaxLanes(DF())), vote_room = abreast * vote_lanes;

    const int turns_, slots_, bins_;
    HWY_ALIGN std::int32_t firsts_[piece_px + vote_room];  // first place of each pixel's histogram
    HWY_ALIGN std::int32_t places_[piece_px + vote_room];
    HWY_ALIGN float votes_[2 * (piece_px + vote_room)];
    HWY_ALIGN float sums_[piece_px * (hog_most_bins + 1) * 2 + 2 * (hog_most_bins + 1) + HWY_MAX_BYTES];
};

}  // namespace

namespace {

// Calls body(x, polar) for several vectors of pixels in row `y`, starting with cell `begin`.
template <class Body>
HWY_INLINE void for_polar_of(const CellRow& cells, int begin, int pixels, int y, const HogRing& ring, Body&& body) {
    const auto row = [&](int at) {
        return cells.gamma + std::clamp(at, 0, cells.height - 1) * cells.row_stride_bytes + begin * cells.cell;
    };
    const auto *above = row(y - 1), *here = row(y), *below = row(y + 1);
    for_polar(
        pixels, ring, [&](std::int64_t x) HWY_ATTR { return sobel(above + x, here + x, below + x); },
        std::forward<Body>(body));
}

// Computes a row of cells by votes; works for cells of any size.
void cell_row_of_votes(const CellRow& cells, const HogRing& ring) {
    CellSums sums(cells.cell, ring);
    const int most = piece_px / cells.cell;
    for (int begin = 0; begin < cells.cells; begin += most) {
        const int count = std::min(most, cells.cells - begin), pixels = count * cells.cell;
        for (int y = cells.first_y; y < cells.first_y + cells.cell; ++y) {
            for_polar_of(cells, begin, pixels, y, ring, [&](std::int64_t x, const Polar& p) HWY_ATTR {
                for (int i = 0; i < abreast; ++i)
                    sums.put(x + i * static_cast<std::int64_t>(hn::Lanes(DF())),
                             vote_of(p.magnitude[i], p.position[i], ring));
            });
            sums.add(pixels);
        }
        sums.finish(count, cells.out + std::int64_t{begin} * ring.bins);
    }
}

// Differences and sums along a row of pixels. Sobel gradients combine those of three adjacent rows.
struct RowSums {
    V16 difference, sum;

    // Loads the sums of as many pixels as a vector of 16 bits has lanes.
    static HWY_INLINE RowSums of(const std::uint8_t* row) {
        const D16 d16;
        const hn::Rebind<std::uint8_t, D16> d8;
        const auto left = hn::PromoteTo(d16, hn::LoadU(d8, row - 1)), here = hn::PromoteTo(d16, hn::LoadU(d8, row)),
                   right = hn::PromoteTo(d16, hn::LoadU(d8, row + 1));
        return {hn::Sub(right, left), hn::Add(hn::Add(left, right), hn::Add(here, here))};
    }
};

// Computes a row of cells by hinge sums, eight rows of pixels at a time.
void cell_row_of_hinges(const CellRow& cells, const HogRing& ring) {
    HingeSums sums(cells.cell, ring);
    const int most = piece_px / cells.cell;
    constexpr int step = static_cast<int>(hn::MaxLanes(D16()));
    for (int begin = 0; begin < cells.cells; begin += most) {
        const int count = std::min(most, cells.cells - begin), pixels = count * cells.cell;
        for (int first = 0; first < cells.cell; first += HingeSums::rows) {
            const std::uint8_t* rows[HingeSums::rows + 2];
            for (int row = 0; row < HingeSums::rows + 2; ++row)
                rows[row] = cells.gamma +
                            std::clamp(cells.first_y + first + row - 1, 0, cells.height - 1) * cells.row_stride_bytes +
                            begin * cells.cell;
            for (int x = 0; x < pixels; x += step) {
                auto above = RowSums::of(rows[0] + x), here = RowSums::of(rows[1] + x);
                for (int row = 0; row < HingeSums::rows; ++row) {
                    const auto below = RowSums::of(rows[row + 2] + x);
                    const auto twice = hn::Add(here.difference, here.difference);
                    sums.put(row, x,
                             turned({hn::Add(hn::Add(above.difference, below.difference), twice),
                                     hn::Sub(below.sum, above.sum)}));
                    above = here;
                    here = below;
                }
            }
            sums.add(pixels, first == 0);
        }
        sums.finish(count, cells.out + std::int64_t{begin} * ring.bins);
    }
}

}  // namespace

// Uses the faster method for sides that are multiples of 8 with few bins.
void cell_row(const CellRow& cells, const HogRing& ring) {
    if (HingeSums::suits(cells.cell, ring.bins)) return cell_row_of_hinges(cells, ring);
    cell_row_of_votes(cells, ring);
}

namespace {

// Normalises blocks like norm_row(), for two cells per side: a block stays in registers, and several blocks pass
// through each step together. Returns the first block that is left for norm_row(). A row of a block fills `vectors`
// vectors; `reach` is the extent of its stores.
template <int vectors>
int norm_small_blocks(const BlockRow& blocks, std::int64_t reach) {
    // As many blocks together as the registers allow.
    constexpr int rows = 2, together = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL ? 4 : 2;
    const DF df;
    const auto step = static_cast<std::int64_t>(hn::Lanes(df));
    const auto run = std::int64_t{rows} * blocks.bins, values = run * rows;
    const auto own = hn::FirstN(df, static_cast<std::size_t>(run - (vectors - 1) * step));
    const auto most = hn::Set(df, hog_largest_share);
    int x = 0;
    for (; reach <= (blocks.columns - x - (together - 1)) * values; x += together) {
        VF all[together][rows * vectors], scale[together];
        const auto sum_up = [&](float added) HWY_ATTR {
            VF sums[together];
            for (auto& sum : sums) sum = hn::Zero(df);
            for (int i = 0; i < rows * vectors; ++i)
                for (int block = 0; block < together; ++block)
                    sums[block] = hn::MulAdd(all[block][i], all[block][i], sums[block]);
            // The roots of several blocks are computed together, so that they overlap.
            float squares[together];
            for (int block = 0; block < together; ++block) squares[block] = sum_of_lanes(df, &sums[block]);
            for (int block = 0; block < together; ++block)
                scale[block] = hn::Set(df, 1 / (std::sqrt(squares[block] + blocks.lengths.squared) + added));
        };
        for (int block = 0; block < together; ++block)
            for (int y = 0; y < rows; ++y)
                for (int i = 0; i < vectors; ++i) {
                    const auto* const from =
                        blocks.cells + std::int64_t{x + block} * blocks.bins + y * blocks.cell_row_values + i * step;
                    const auto whole = hn::LoadU(df, from);
                    all[block][y * vectors + i] = i < vectors - 1 ? whole : hn::IfThenElseZero(own, whole);
                }
        sum_up(blocks.lengths.first);
        if (blocks.clipped) {
            for (int i = 0; i < rows * vectors; ++i)
                for (int block = 0; block < together; ++block)
                    all[block][i] = hn::Min(hn::Mul(all[block][i], scale[block]), most);
            sum_up(blocks.lengths.second);
        }
        for (int block = 0; block < together; ++block)
            for (int y = 0; y < rows; ++y)
                for (int i = 0; i < vectors; ++i)
                    hn::StoreU(hn::Mul(all[block][y * vectors + i], scale[block]), df,
                               blocks.out + (x + block) * values + y * run + i * step);
    }
    return x;
}

}  // namespace

// Normalises a row of blocks. Loads read whole vectors and mask values that do not belong to the block. Stores write
// whole vectors, because the next row of values or the next block overwrites the excess. Only the stores of a row's
// last blocks must not exceed the row.
void norm_row(const BlockRow& blocks) {
    const DF df;
    const auto step = static_cast<std::int64_t>(hn::Lanes(df));
    const auto run = std::int64_t{blocks.block} * blocks.bins, values = run * blocks.block;
    const auto most = hn::Set(df, blocks.clipped ? hog_largest_share : std::numeric_limits<float>::infinity());
    const auto one = hn::Set(df, 1.0f);
    const auto reach = values - run + (run + step - 1) / step * step;  // extent of the stores of one block
    HWY_ALIGN float last[hog_most_block * hog_most_block * hog_most_bins + HWY_MAX_BYTES];
    int x = 0;
    if (vectors_per_sum == 1 && blocks.block == 2) {
        const auto vectors = (run + step - 1) / step;
        if (vectors == 1) x = norm_small_blocks<1>(blocks, reach);
        if (vectors == 2) x = norm_small_blocks<2>(blocks, reach);
        if (vectors == 3) x = norm_small_blocks<3>(blocks, reach);
    }
    for (; x < blocks.columns; ++x) {
        const auto* cells = blocks.cells + std::int64_t{x} * blocks.bins;
        // Calls body(offset in the block, vector of a sum, values times `scale`, clipped to `above`).
        const auto for_vectors = [&](VF scale, VF above, auto&& body) HWY_ATTR {
            for (int y = 0; y < blocks.block; ++y)
                for (std::int64_t all = 0; all < run; all += vectors_per_sum * step)
                    for (int vector = 0; vector < vectors_per_sum; ++vector) {
                        const auto i = all + vector * step;
                        if (vector > 0 && i >= run) break;
                        const auto whole = hn::LoadU(df, cells + y * blocks.cell_row_values + i);
                        const auto own = hn::FirstN(df, static_cast<std::size_t>(std::min(step, run - i)));
                        body(y * run + i, vector, hn::Min(hn::Mul(hn::IfThenElseZero(own, whole), scale), above));
                    }
        };
        const auto scale_of = [&](VF scale, VF above, float added) HWY_ATTR {
            VF sums[vectors_per_sum];
            for (auto& sum : sums) sum = hn::Zero(df);
            for_vectors(scale, above, [&](std::int64_t, int vector, VF value) HWY_ATTR {
                sums[vector] = hn::MulAdd(value, value, sums[vector]);
            });
            // A scalar root and a scalar division, because they take several times as long on whole vectors.
            const auto squared = sum_of_lanes(df, sums) + blocks.lengths.squared;
            return hn::Set(df, 1 / (std::sqrt(squared) + added));
        };
        const auto first = scale_of(one, hn::Set(df, std::numeric_limits<float>::infinity()), blocks.lengths.first);
        const auto second = blocks.clipped ? scale_of(first, most, blocks.lengths.second) : one;
        auto* out = blocks.out + x * values;
        // The stores of the last blocks would cross the end of the row, so they go through a buffer.
        const bool fits = reach <= (blocks.columns - x) * values;
        auto* to = fits ? out : last;
        for_vectors(first, most,
                    [&](std::int64_t at, int, VF value) HWY_ATTR { hn::StoreU(hn::Mul(value, second), df, to + at); });
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
HWY_EXPORT(split_row);

// Returns levels at the edges of the report's bins, which have four gray values each.
HogLevels hog_levels(const Histogram& histogram) {
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
        const auto reaches = [&](int i) { return hog_reaches(below, through, pixels, hog_level_percents[i]); };
        if (reaches(0)) levels.low = edge;
        if (reaches(1)) levels.mid = edge;
        if (reaches(2)) levels.high = edge;
        below = through;
    }
    return levels;
}

std::array<std::uint8_t, 256> hog_gamma_table(const HogLevels& levels) {
    const auto exponent = hog_gamma_exponent(levels);
    std::array<std::uint8_t, 256> table;
    for (int gray = 0; gray < 256; ++gray) table[static_cast<std::size_t>(gray)] = hog_gamma(gray, levels, exponent);
    return table;
}

// The replicated pixels at both ends allow the gradients to read beyond the row.
void hog_gamma_row(const std::uint8_t* gray, std::int64_t pixels, const std::uint8_t* table, std::uint8_t* row) {
    HWY_DYNAMIC_DISPATCH(gamma_row)(gray, pixels, table, row);
    row[-1] = row[0];
    row[pixels] = row[pixels - 1];
}

void hog_gradient_row(const HogRows& rows, std::int64_t pixels, HogGradient gradient, const HogRing& ring,
                      const HogGradients& out) {
    HWY_DYNAMIC_DISPATCH(gradient_row)(rows, pixels, gradient, ring, out);
}

std::array<std::uint8_t, 256> hog_fixed_table(HogGamma gamma) {
    std::array<std::uint8_t, 256> table;
    for (int gray = 0; gray < 256; ++gray)
        table[static_cast<std::size_t>(gray)] =
            gamma == HogGamma::sqrt ? hog_root(gray) : static_cast<std::uint8_t>(gray);
    return table;
}

void hog_split_row(const std::uint8_t* bgr, std::int64_t pixels, std::uint8_t* const* planes) {
    HWY_DYNAMIC_DISPATCH(split_row)(bgr, pixels, planes);
}

std::uint8_t* Hog::gray_row(int frame, std::int64_t y, int plane) const {
    const auto row = (std::int64_t{frame} * planes_ + plane) * shape_.height + y;
    return gray_.data() + row * row_stride_bytes_ + hog_cpu_row_begin;
}

// Calls body(band, frame, first row, end row) in parallel for the bands of every frame.
template <class Body>
void Hog::for_bands(Body&& body) const {
    const auto bands = std::int64_t{shape_.frames} * bands_;
    executor_->pool().for_chunks(bands, 1, [&](std::int64_t band, std::int64_t, std::int64_t) {
        const auto number = band % bands_;
        body(band, static_cast<int>(band / bands_), static_cast<int>(number * shape_.height / bands_),
             static_cast<int>((number + 1) * shape_.height / bands_));
    });
}

// Counts the gray levels of the frames and converts BGR frames to gray in the same pass. Without the report's gamma
// nothing is counted, and pixels are converted right before they are used. Planes are read in place.
void Hog::run(HostView<const std::uint8_t> frames, HogView<float, MemorySpace::host> out) {
    const bool are_planes = frames.shape().channels == 1, counts = parameters_.gamma == HogGamma::report;
    validate(frames, are_planes ? shape_.with_channels(1).with_frames(planes_ * shape_.frames) : shape_, "hog's image");
    check(out.shape());
    if (counts && !count_near(frames)) count_levels(frames);
    describe(
        [&](int frame, int y) {
            std::array<const std::uint8_t*, 3> rows{};
            for (int plane = 0; plane < planes_; ++plane)
                rows[static_cast<std::size_t>(plane)] =
                    are_planes ? frames.row(frame * planes_ + plane, y) : gray_row(frame, y, plane);
            if (are_planes || counts) return rows;
            if (planes_ == 1) {
                gray_span(GrayMethod::weighted, frames.row(frame, y), 3, shape_.width, 1, gray_row(frame, y));
                return rows;
            }
            std::uint8_t* const to[] = {gray_row(frame, y), gray_row(frame, y, 1), gray_row(frame, y, 2)};
            hog_split_row(frames.row(frame, y), shape_.width, to);
            return rows;
        },
        out);
}

// Counts the levels of each band, adds up the histograms of each frame and sets the frame's gamma.
void Hog::count_levels(HostView<const std::uint8_t> frames) {
    auto* histograms = counts_.as<Histogram>();
    for_bands([&](std::int64_t band, int frame, int begin, int end) {
        count_gray_groups(frames.frames(frame, 1), begin, end, gray_row(frame, begin), row_stride_bytes_,
                          histograms[band]);
    });
    executor_->pool().for_chunks(shape_.frames, 1, [&](std::int64_t frame, std::int64_t, std::int64_t) {
        auto& sum = histograms[frame * bands_];
        for (int band = 1; band < bands_; ++band)
            for (std::size_t level = 0; level < sum.size(); ++level)
                sum[level] += histograms[frame * bands_ + band][level];
        set_levels(frame, hog_levels(sum));
    });
}

// Counts pixels only around the levels of the previous frame, which is faster than a histogram, and sets the gamma.
// Returns false if there was no previous frame or if the levels have moved too far; then every pixel must be counted.
bool Hog::count_near(HostView<const std::uint8_t> frame) {
    if (!has_levels_) return false;
    const HogNearLevels near(*levels_);
    auto* const counts = counts_.as<HogNearCounts>();
    const int channels = frame.shape().channels;
    for_bands([&](std::int64_t band, int, int begin, int end) {
        counts[band] = {};
        for (int y = begin; y < end; ++y) {
            const auto* gray = frame.row(0, y);
            if (channels != 1) {
                gray_span(GrayMethod::weighted, gray, channels, shape_.width, 1, gray_row(0, y));
                gray = gray_row(0, y);
            }
            near.count(gray, shape_.width, counts[band]);
        }
    });
    for (int band = 1; band < bands_; ++band) counts[0].add(counts[band]);
    const auto found =
        near.found(counts[0], static_cast<std::uint64_t>(shape_.height) * static_cast<std::uint64_t>(shape_.width));
    if (found) set_levels(0, *found);
    return found.has_value();
}

// Stores the gamma table of a frame and, if frames come singly, the levels for the next frame.
void Hog::set_levels(std::int64_t frame, const HogLevels& levels) {
    const auto table = hog_gamma_table(levels);
    std::copy(table.begin(), table.end(), tables_.data() + frame * 256);
    if (!levels_) return;
    *levels_ = levels;
    has_levels_ = true;
}

// Computes the descriptors. rows_at(frame, y) returns a row of each plane before the gamma.
template <class RowsAt>
void Hog::describe(RowsAt&& rows_at, HogView<float, MemorySpace::host> out) {
    const auto& pool = executor_->pool();
    for_bands([&](std::int64_t, int frame, int begin, int end) {
        for (int y = begin; y < end; ++y) {
            const std::array<const std::uint8_t*, 3> rows = rows_at(frame, y);
            for (int plane = 0; plane < planes_; ++plane)
                hog_gamma_row(rows[static_cast<std::size_t>(plane)], shape_.width, tables_.data() + frame * 256,
                              gray_row(frame, y, plane));
        }
    });
    const bool normed = parameters_.norm != HogNorm::none;
    const HogView<float, MemorySpace::host> cells =
        normed ? HogView<float, MemorySpace::host>(cells_.as<float>(), cells_shape_) : out;
    const auto ring = hog_ring(parameters_.bins, parameters_.signed_gradients);
    const int cell = parameters_.cell;
    if (spread_) {
        // Spread votes read the same image, with its replicated border pixels.
        const SpreadImages images{.gray = gray_row(0, 0),
                                  .row_stride_bytes = row_stride_bytes_,
                                  .planes = planes_,
                                  .width = shape_.width,
                                  .height = shape_.height,
                                  .cell = cell,
                                  .rows = shape_.height / cell,
                                  .columns = shape_.width / cell,
                                  .tables = nullptr,
                                  .ring = ring,
                                  .shape = cells_shape_,
                                  .out = cells.data()};
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
    const int block = own_histograms() ? 1 : parameters_.block;
    pool.for_chunks(std::int64_t{shape_.frames} * output_shape_.rows, 1,
                    [&](std::int64_t row, std::int64_t, std::int64_t) {
                        const auto frame = static_cast<int>(row / output_shape_.rows),
                                   y = static_cast<int>(row % output_shape_.rows);
                        HWY_DYNAMIC_DISPATCH(norm_row)
                        (BlockRow{cells.row(frame, y), cells_shape_.row_values(), output_shape_.columns, block,
                                  cells_shape_.values, out.row(frame, y), parameters_.norm != HogNorm::l2,
                                  hog_lengths(parameters_, output_shape_.values)});
                    });
}

}  // namespace framewire

#endif

#if HWY_ONCE

namespace framewire {
namespace {

// Returns the shape of the norm's input: cells, or the descriptors themselves if each block has its own histograms.
HogShape shape_of_cells(const HogParameters& parameters, const Shape& frames) {
    if (parameters.gradient == HogGradient::central && parameters.votes != HogVotes::cells)
        return hog_shape(parameters, frames);
    return {frames.frames, frames.height / parameters.cell, frames.width / parameters.cell, parameters.bins};
}

}  // namespace

HogParameters hog_preset(HogPreset preset) {
    switch (preset) {
        case HogPreset::report: break;
        case HogPreset::people:
            return {.gradient = HogGradient::central,
                    .votes = HogVotes::cells,
                    .gamma = HogGamma::sqrt,
                    .colour = HogColour::largest,
                    .norm = HogNorm::l2hys};
        case HogPreset::opencv:
            return {.gradient = HogGradient::central,
                    .votes = HogVotes::opencv,
                    .gamma = HogGamma::sqrt,
                    .colour = HogColour::largest,
                    .norm = HogNorm::opencv};
    }
    return {};
}

const ParameterInfo& hog_preset_parameter() {
    static const ParameterInfo parameter{
        .name = "descriptor",
        .help =
            "sets --gradient, --votes, --gamma, --colour and --norm that are not given: report: as in the HOG report; "
            "people: for training models of people; opencv: as OpenCV's people detector",
        .type = ParameterInfo::Type::choice,
        .choices = names_of(hog_preset_names)};
    return parameter;
}

// The norm of `report` depends on the purpose: classifiers need one.
void add_preset(HogPreset preset, ParameterValues& given) {
    hog_fields().for_each(hog_preset(preset), [&](const ParameterInfo& parameter, const std::string& text) {
        const auto& name = parameter.name;
        const bool of_preset = name == "gradient" || name == "votes" || name == "gamma" || name == "colour" ||
                               (name == "norm" && preset != HogPreset::report);
        if (of_preset && !given.is_given(name)) given.add(name, text);
    });
}

HogParameters parse_hog(std::string_view text) {
    auto infos = hog_fields().infos();
    infos.insert(infos.begin(), hog_preset_parameter());
    infos.front().optional = true;
    auto given = parse_given_parameters(text, {.who = "hog", .parameters = infos});
    const bool has_votes = given.is_given("votes"), has_block = given.is_given("block");
    if (const auto& preset = hog_preset_parameter().name; given.is_given(preset))
        add_preset(*value_named(hog_preset_names, given.text(preset)), given);
    const auto parameters = hog_fields().from(given);
    if (has_votes && parameters.gradient == HogGradient::sobel)
        fail(ErrorCode::usage, "hog: votes {} requires gradient central", name_of(hog_votes_names, parameters.votes));
    if (has_block && parameters.norm == HogNorm::none)
        fail(ErrorCode::usage, "hog: block {} requires norm l2 or l2hys", parameters.block);
    return parameters;
}

// The parameters of the cells come first, then those of the norm.
const ParameterFields<HogParameters>& hog_fields() {
    using P = HogParameters;
    static const ParameterFields<P> fields = {
        parameter_field(
            &P::gradient, hog_gradient_names,
            {.name = "gradient",
             .help = "sobel: as in the report; central: central differences, with votes interpolated between cells "
                     "(Dalal and Triggs)"}),
        parameter_field(
            &P::votes, hog_votes_names,
            {.name = "votes",
             .help = "cells among which a pixel splits its vote: block: those of the same block, weighted by a "
                     "Gaussian; cells: any cells; opencv: block, half a pixel off; requires central gradients"}),
        parameter_field(
            &P::gamma, hog_gamma_names,
            {.name = "gamma",
             .help = "curve before the gradients: report: from the quantiles of each frame; none; sqrt: square root"}),
        parameter_field(
            &P::colour, hog_colour_names,
            {.name = "colour",
             .help = "gradients of the gray image, or of the channel in which they are largest, which requires central "
                     "gradients and a gamma of none or sqrt"}),
        parameter_field(
            &P::cell,
            {.name = "cell", .help = "side of a cell in pixels", .minimum = 4, .maximum = hog_most_cell, .unit = "PX"}),
        parameter_field(
            &P::bins,
            {.name = "bins", .help = "orientation bins per cell", .minimum = 2, .maximum = hog_most_bins, .unit = "N"}),
        parameter_field(
            &P::signed_gradients,
            {.name = "signed", .help = "distinguish dark-to-bright from bright-to-dark edges: bins cover 360 degrees"}),
        parameter_field(
            &P::norm, hog_norm_names,
            {.name = "norm",
             .help = "normalization of each block of cells; l2hys: as in Dalal and Triggs; opencv: l2hys with OpenCV's "
                     "constants, which damp low contrast"}),
        parameter_field(&P::block, {.name = "block",
                                    .help = "side of a block in cells; requires a norm",
                                    .minimum = 1,
                                    .maximum = hog_most_block,
                                    .unit = "N"}),
    };
    return fields;
}

// Does not check `block` without a norm, because it is ignored then.
HogShape hog_shape(const HogParameters& parameters, const Shape& frames) {
    validate(frames, "hog's image");
    const bool normed = parameters.norm != HogNorm::none;
    auto read = parameters;
    if (!normed) read.block = HogParameters{}.block;
    hog_fields().check(read, "hog");
    if (parameters.colour == HogColour::largest &&
        (parameters.gradient != HogGradient::central || parameters.gamma == HogGamma::report))
        fail(ErrorCode::usage,
             "hog: colour largest requires gradient central and gamma none or sqrt; the gradient is {} and the gamma "
             "{}",
             name_of(hog_gradient_names, parameters.gradient), name_of(hog_gamma_names, parameters.gamma));
    const HogShape cells{frames.frames, frames.height / parameters.cell, frames.width / parameters.cell,
                         parameters.bins};
    const int block = normed ? parameters.block : 1, side_px = block * parameters.cell;
    if (cells.rows < block || cells.columns < block)
        fail(ErrorCode::usage, "hog's image is {}, smaller than a {} of {}x{} pixels", to_string(frames),
             block == 1 ? "cell" : "block", side_px, side_px);
    return {cells.frames, cells.rows - block + 1, cells.columns - block + 1, block * block * cells.values};
}

// Allocates memory for all frames: gray images, counts of gray levels per band, gamma tables and, with a norm, the
// cells that it reads.
Hog::Hog(const HogParameters& parameters, const Shape& frames, Executor& executor)
    : parameters_(parameters),
      shape_(frames),
      planes_(hog_planes(parameters, frames.channels)),
      cells_shape_(shape_of_cells(parameters, (hog_shape(parameters, frames), frames))),
      output_shape_(hog_shape(parameters, frames)),
      executor_(&executor) {
    if (parameters.gradient == HogGradient::central) spread_ = std::make_shared<HogSpread>(parameters, executor);
    const bool on_cpu = executor.backend() == Backend::cpu;
    if (on_cpu) {
        row_stride_bytes_ = hog_cpu_row_stride_bytes(frames.width);
        // About two bands per thread in total over all frames.
        bands_ = std::clamp((2 * executor.pool().threads() + frames.frames - 1) / frames.frames, 1, frames.height);
    } else {
        row_stride_bytes_ = hog_cuda_row_stride_bytes(frames.width);
        bands_ = hog_cuda_bands(row_stride_bytes_, frames);
    }
    const auto count = static_cast<std::size_t>(frames.frames);
    const auto band_bytes = on_cpu ? sizeof(Histogram) : sizeof(HogBandCounts);
    gray_ = BackendBuffer(static_cast<std::size_t>(row_stride_bytes_ * frames.rows() * planes_), executor);
    const bool counts = parameters.gamma == HogGamma::report;
    if (on_cpu && frames.frames == 1 && counts) levels_ = std::make_shared<HogLevels>();
    counts_ = BackendBuffer(count * static_cast<std::size_t>(bands_) * band_bytes, executor);
    tables_ = BackendBuffer(count * 256, executor);
    if (!counts) {
        const auto table = hog_fixed_table(parameters.gamma);
        std::vector<std::uint8_t> of_frames;
        for (int frame = 0; frame < frames.frames; ++frame)
            of_frames.insert(of_frames.end(), table.begin(), table.end());
        tables_.put(of_frames.data(), of_frames.size());
    }
    if (parameters.norm != HogNorm::none) cells_ = BackendBuffer(cells_shape_.bytes() + hog_vector_bytes, executor);
}

void Hog::check(const HogShape& out) const {
    if (out != output_shape_)
        fail(ErrorCode::usage, "hog's descriptors are {} x {} x {} x {}; expected {} x {} x {} x {}", out.frames,
             out.rows, out.columns, out.values, output_shape_.frames, output_shape_.rows, output_shape_.columns,
             output_shape_.values);
}

}  // namespace framewire

#endif  // HWY_ONCE
