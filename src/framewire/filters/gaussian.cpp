#include "framewire/filters/gaussian.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/gaussian.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/core/simd-inl.hpp"
#include "framewire/filters/gaussian-inl.hpp"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cmath>
#include <cstring>

// Gaussian for few taps, with all intermediate results in registers.
//
// A column of vectors is processed top to bottom. Each image row is filtered along the row when it is loaded; its
// result and its difference from the previous one move through `taps` registers, from which the column pass computes a
// row of the result. No intermediate rows are stored.

// The part that is compiled once, not once per instruction set.
#ifndef FRAMEWIRE_GAUSSIAN_SHORT_INL_ONCE
#define FRAMEWIRE_GAUSSIAN_SHORT_INL_ONCE

#include "framewire/filters/gaussian.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace framewire {

// Rows of the result per strip. A strip is computed one column of vectors at a time. More rows repeat less of the row
// pass, but touch more memory pages.
inline constexpr int gaussian_short_rows = 16;
// Width of the widest tile, in bytes.
inline constexpr int gaussian_short_tile_bytes = 6144;
// Prefetch distance along a row.
inline constexpr int gaussian_short_ahead_bytes = 320;

}  // namespace framewire

#endif

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE::gaussian_short {

namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::Repartition<std::int16_t, D8>;
using D32 = hn::Repartition<std::int32_t, D8>;
using V8 = hn::Vec<D8>;
using V16 = hn::Vec<D16>;

// 16-bit numbers for a vector of bytes, from the lower and the upper half of each 16-byte block.
struct Halves {
    V16 lower, upper;
};

// Returns a pair of 16-bit weights, as multiply_add_pairs() takes them.
HWY_INLINE V16 weight_pair(int first, int second) {
    return hn::BitCast(D16(), hn::Set(D32(), static_cast<std::int32_t>(static_cast<std::uint32_t>(first & 0xFFFF) |
                                                                       static_cast<std::uint32_t>(second) << 16)));
}

// Row pass with three or five short weights s in 256ths: r = (sum of s * byte + 2) >> 2. The pass subtracts 128 from
// every byte, so that the sums fit signed 16-bit numbers; r is therefore 8192 too small. It also adds 32 to each r,
// which rounds the column pass.
template <int taps, int channels>
class ShortRow {
public:
    // Number of taps on each side of the middle one.
    static constexpr int reach = taps / 2;

    // Arranges the weights and the rounding term as pairs of bytes.
    explicit ShortRow(const GaussianWeights& weights) {
        const auto weight = [&](int tap) {
            const int of_unit = weights.folded[tap < reach ? tap : taps - 1 - tap] / gaussian_short_unit;
            return tap == reach ? 2 * of_unit : of_unit;
        };
        for (int pair = 0; pair <= reach; ++pair) {
            const int second = pair < reach ? weight(2 * pair + 1) : rounding;
            pairs_[pair] = static_cast<std::int16_t>(weight(2 * pair) | second << 8);
        }
    }

    // Returns the row pass for the vector of bytes at `at`.
    HWY_INLINE Halves operator()(const std::uint8_t* at) const {
        const D8 d8;
        const D16 d16;
        const auto tap = [&](int index) HWY_ATTR {
            return hn::Xor(hn::LoadU(d8, at + (index - reach) * channels), hn::Set(d8, 128));
        };
        Halves sum{};
#pragma GCC unroll 4
        for (int pair = 0; pair <= reach; ++pair) {
            const auto weight = hn::BitCast(d8, hn::Set(d16, pairs_[pair]));
            const auto first = tap(2 * pair), second = pair < reach ? tap(2 * pair + 1) : hn::Set(d8, 1);
            const auto lower = multiply_add_bytes(d16, weight, hn::InterleaveLower(d8, first, second));
            const auto upper = multiply_add_bytes(d16, weight, hn::InterleaveUpper(d8, first, second));
            sum.lower = pair ? hn::Add(sum.lower, lower) : lower;
            sum.upper = pair ? hn::Add(sum.upper, upper) : upper;
        }
        return {hn::ShiftRight<2>(sum.lower), hn::ShiftRight<2>(sum.upper)};
    }

    // Converts results of the column pass to bytes.
    static HWY_INLINE V8 bytes_of(const Halves& results) {
        const D8 d8;
        return hn::Xor(narrow_signed_in_blocks(d8, results.lower, results.upper), hn::Set(d8, 128));
    }

private:
    // Rounding term of a row's result plus the extra 32 before the shift: 2 + 4 * 32. It is the weight of a constant 1.
    static constexpr int rounding = 130;
    std::int16_t pairs_[reach + 1];  // two bytes per element
};

// Row pass with seven 16-bit weights: r = (sum of weight * byte + 2^8) >> 9, plus 32 for the rounding of the column
// pass. The two taps of each weight are added first.
template <int channels>
class LongRow {
public:
    // Number of taps on each side of the middle one.
    static constexpr int reach = 3;

    // Unfolds the weights.
    explicit LongRow(const GaussianWeights& weights) {
        for (int tap = 0; tap <= reach; ++tap) weights_[tap] = weights.folded[tap] * (tap == reach ? 2 : 1);
    }

    HWY_INLINE Halves operator()(const std::uint8_t* at) const {
        const D8 d8;
        const D16 d16;
        const auto load = [&](int px) HWY_ATTR { return hn::LoadU(d8, at + px * channels); };
        const auto both = [&](int px) HWY_ATTR {
            const auto before = load(-px), after = load(px);
            const auto ones = hn::Set(d8, 1);
            return Halves{multiply_add_bytes(d16, hn::InterleaveLower(d8, before, after), ones),
                          multiply_add_bytes(d16, hn::InterleaveUpper(d8, before, after), ones)};
        };
        const auto middle = load(0);
        const Halves far = both(3), between = both(2), near = both(1),
                     here{hn::BitCast(d16, hn::InterleaveLower(d8, middle, hn::Zero(d8))),
                          hn::BitCast(d16, hn::InterleaveUpper(d8, middle, hn::Zero(d8)))};
        return {weigh(far.lower, between.lower, near.lower, here.lower),
                weigh(far.upper, between.upper, near.upper, here.upper)};
    }

    // Converts results of the column pass to bytes.
    static HWY_INLINE V8 bytes_of(const Halves& results) {
        return narrow_in_blocks(D8(), results.lower, results.upper);
    }

private:
    // Weighs the sums of taps at distances 3, 2, 1 and 0.
    HWY_INLINE V16 weigh(V16 far, V16 between, V16 near, V16 here) const {
        const D16 d16;
        const D32 d32;
        const auto outer = weight_pair(weights_[0], weights_[1]), inner = weight_pair(weights_[2], weights_[3]);
        constexpr int shift = gaussian_row_shift(GaussianRounding::fine);
        const auto rounding = hn::Set(d32, (1 << (shift - 1)) + (32 << shift));
        const auto sum = [&](V16 of_outer, V16 of_inner) HWY_ATTR {
            const auto weighed =
                hn::Add(multiply_add_pairs(d32, of_outer, outer), multiply_add_pairs(d32, of_inner, inner));
            return hn::ShiftRight<shift>(hn::Add(weighed, rounding));
        };
        return halve_in_blocks(d16, sum(hn::InterleaveLower(d16, far, between), hn::InterleaveLower(d16, near, here)),
                               sum(hn::InterleaveUpper(d16, far, between), hn::InterleaveUpper(d16, near, here)));
    }

    int weights_[reach + 1];
};

// Column pass over 14-bit results r of the row pass, with weights w that sum to 2^15:
//     result = (sum of w * r + 2^20) >> 21
// The extra 32 in each r supplies the 2^20. The sum equals 2^15 r of the middle row plus, for each other tap, w times
// the difference of its r from the middle one, so
//     result = (r + ((sum of w * (r of the tap - r)) >> 15)) >> 6.
// The inner shift drops only bits that the outer one would drop anyway.
template <class Row, int taps>
class Weigher {
public:
    static constexpr int reach = taps / 2;

    // Prepares both passes.
    explicit Weigher(const GaussianWeights& weights) : weigh_row_(weights) {
        for (int tap = 0; tap < reach; ++tap) column_[tap] = static_cast<std::int16_t>(2 * weights.folded[tap]);
    }

    // Filters `count` + 2 * reach rows at column x and writes `count` rows of the result to `out`.
    HWY_INLINE void weigh(const std::uint8_t* const* rows, std::int64_t x, int count, std::uint8_t* out,
                          std::int64_t out_stride) const {
        const D8 d8;
        Halves last[taps]{};       // results of the latest rows, oldest first
        Halves steps[taps - 1]{};  // difference from each row's result to the next one's
        for (int row = 0; row < count + taps - 1; ++row) {
            const auto* at = rows[row] + x;
#pragma GCC unroll 8
            for (int index = 0; index + 1 < taps; ++index) last[index] = last[index + 1];
#pragma GCC unroll 8
            for (int index = 0; index + 2 < taps; ++index) steps[index] = steps[index + 1];
            last[taps - 1] = weigh_row_(at);
            steps[taps - 2] = {hn::Sub(last[taps - 1].lower, last[taps - 2].lower),
                               hn::Sub(last[taps - 1].upper, last[taps - 2].upper)};
            if (row < taps - 1) continue;
            // Hardware prefetchers do not follow this many streams.
            hwy::Prefetch(at + gaussian_short_ahead_bytes);
            hwy::Prefetch(out + gaussian_short_ahead_bytes);
            const Halves results{
                weigh_column(last[reach].lower, [&](int index) HWY_ATTR { return steps[index].lower; }),
                weigh_column(last[reach].upper, [&](int index) HWY_ATTR { return steps[index].upper; })};
            hn::StoreU(Row::bytes_of(results), d8, out);
            out += out_stride;
        }
    }

private:
    // Returns a vector of results of the column pass. `step(i)` is the difference from row i's result to the next
    // one's.
    template <class Step>
    HWY_INLINE V16 weigh_column(V16 middle, Step&& step) const {
        const D16 d16;
        // Sums of the differences from the middle row, of the two rows at distance 1 (`near`) and at larger distances.
        const auto near = hn::Sub(step(reach), step(reach - 1));
        if constexpr (taps == 3) {
            return hn::ShiftRight<6>(hn::Add(middle, hn::MulHigh(near, hn::Set(d16, column_[0]))));
        } else {
            const auto far = hn::Add(near, hn::Sub(step(reach + 1), step(reach - 2)));
            auto first = far, second = near;
            if constexpr (taps == 7) {
                first = hn::Add(far, hn::Sub(step(5), step(0)));
                second = far;
            }
            const D32 d32;
            const auto weights = weight_pair(column_[0], column_[1]);
            auto lower = multiply_add_pairs(d32, hn::InterleaveLower(d16, first, second), weights);
            auto upper = multiply_add_pairs(d32, hn::InterleaveUpper(d16, first, second), weights);
            if constexpr (taps == 7) {
                const auto zero = hn::Zero(d16), weight = weight_pair(column_[2], 0);
                lower = hn::Add(lower, multiply_add_pairs(d32, hn::InterleaveLower(d16, near, zero), weight));
                upper = hn::Add(upper, multiply_add_pairs(d32, hn::InterleaveUpper(d16, near, zero), weight));
            }
            const auto weighed = halve_in_blocks(d16, hn::ShiftRight<16>(lower), hn::ShiftRight<16>(upper));
            return hn::ShiftRight<6>(hn::Add(middle, weighed));
        }
    }

    Row weigh_row_;
    std::int16_t column_[reach];  // weights in units of 2^-16
};

/// Returns true if this blur_tile() is the faster one. For seven taps, the results do not fit the registers of the
/// smaller instruction sets.
inline bool suits(const GaussianWeights& weights, int channels) {
    if (weights.rounding != GaussianRounding::fine) return false;
    if (weights.taps == 7) return HWY_TARGET <= HWY_AVX3_DL && channels == 3;
    return weights.is_short && (weights.taps == 3 || weights.taps == 5);
}

/// Blurs a tile of at most gaussian_short_tile_bytes per row, with three or five short weights or with any seven
/// weights.
template <int taps, int channels>
void blur_tile(const GaussianWeights& weights, Border border, HostView<const std::uint8_t> in,
               HostView<std::uint8_t> out, const WindowTile& tile) {
    using Row = std::conditional_t<taps == 7, LongRow<channels>, ShortRow<taps, channels>>;
    using W = Weigher<Row, taps>;
    constexpr int rim = W::reach * channels;
    constexpr int most_rows = gaussian_short_rows + taps - 1;
    static constexpr std::uint8_t nothing[gaussian_short_tile_bytes + 2 * rim + HWY_MAX_BYTES] = {};
    const W weigher(weights);
    const auto& shape = in.shape();
    const auto step = static_cast<int>(hn::Lanes(D8()));
    const int row_bytes = static_cast<int>(shape.row_bytes());
    const int begin = tile.x_begin * channels, count = tile.x_end * channels - begin;

    const std::uint8_t* rows[most_rows];  // image rows from the tile's first column on; `nothing` for black rows
    HWY_ALIGN std::uint8_t padded[most_rows][HWY_MAX_BYTES + 2 * (rim + channels)] = {};
    HWY_ALIGN std::uint8_t result[gaussian_short_rows][HWY_MAX_BYTES];
    const std::uint8_t* lines[most_rows];
    // For each byte of the border left and right of a row, the position in the row that it copies, or -1 for black.
    std::int64_t beside[2][rim];
    for (int at = 0; at < rim; ++at) {
        const auto look_up = [&](int px) {
            const int from = border_index(px, shape.width, border);
            return from < 0 ? -1 : std::int64_t{from} * channels + at % channels;
        };
        beside[0][at] = look_up(at / channels - W::reach);
        beside[1][at] = look_up(shape.width + at / channels);
    }

    // Pads the image's first vector of columns, or its last one.
    const auto pad_edge = [&](bool right, int height) HWY_ATTR {
        const D8 d8;
        for (int row = 0; row < height + taps - 1; ++row) {
            const auto* image = rows[row] - begin;
            const auto* inside = image + (right ? row_bytes - step - rim : 0);
            auto* line = padded[row];
            hn::StoreU(hn::LoadU(d8, inside), d8, line + (right ? 0 : rim));
            hn::StoreU(hn::LoadU(d8, inside + rim), d8, line + (right ? rim : 2 * rim));
            auto* to = line + (right ? step + rim : 0);
            for (int at = 0; at < rim; ++at) {
                const auto from = beside[right][at];
                to[at] = from < 0 ? std::uint8_t{0} : image[from];
            }
            lines[row] = line + rim;
        }
    };
    // Pads up to one vector of any columns.
    const auto pad_columns = [&](int x, int columns, int y, int height) {
        const int first_px = (begin + x) / channels, end_px = (begin + x + columns - 1) / channels + 1;
        for (int row = 0; row < height + taps - 1; ++row) {
            const int from = border_index(y - W::reach + row, shape.height, border);
            pad_row_part(from < 0 ? nullptr : in.row(tile.frame, from), shape.width, channels, first_px - W::reach,
                         end_px + W::reach, border, padded[row]);
            lines[row] = padded[row] + (begin + x) % channels + rim;
        }
    };

    for (int y = tile.y_begin; y < tile.y_end; y += gaussian_short_rows) {
        const int height = std::min(gaussian_short_rows, tile.y_end - y);
        bool all_rows_inside = true;
        for (int row = 0; row < height + taps - 1; ++row) {
            const int from = border_index(y - W::reach + row, shape.height, border);
            all_rows_inside = all_rows_inside && from >= 0;
            rows[row] = from < 0 ? nothing + rim : in.row(tile.frame, from) + begin;
        }
        auto* to = out.row(tile.frame, y) + begin;
        for (int at = 0; at < count; at += step) {
            // Recompute some columns instead of handling a partial vector.
            const int x = std::min(at, std::max(count - step, 0));
            const int columns = std::min(step, count), last = begin + x + columns;
            if (columns == step && begin + x >= rim && last + rim <= row_bytes) {
                weigher.weigh(rows, x, height, to + x, out.row_stride_bytes());
                continue;
            }
            const bool is_edge = begin + x == 0 || last == row_bytes;
            if (is_edge && all_rows_inside && columns == step && row_bytes >= step + rim)
                pad_edge(last == row_bytes, height);
            else
                pad_columns(x, columns, y, height);
            weigher.weigh(lines, 0, height, result[0], HWY_MAX_BYTES);
            for (int row = 0; row < height; ++row)
                std::memcpy(out.row(tile.frame, y + row) + begin + x, result[row], static_cast<std::size_t>(columns));
        }
    }
}

}  // namespace framewire::HWY_NAMESPACE::gaussian_short
HWY_AFTER_NAMESPACE();

// Gaussian on the CPU, in tiles. The loops for any window are in gaussian-inl.hpp, those for few taps above;
// this part instantiates them for common sizes and chooses between them.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

// Blurs one tile with the general loops.
template <GaussianRounding rounding, int fixed_terms>
void gaussian_tile_of(const GaussianWeights& weights, Border border, HostView<const std::uint8_t> in,
                      HostView<std::uint8_t> out, const WindowTile& tile) {
    const auto& shape = in.shape();
    gaussian_passes::blur_tile<rounding, fixed_terms>(
        weights, border, shape, tile,
        [&](int y, const TileColumns& columns, std::uint8_t* line) {
            const auto* image = in.row(tile.frame, y) + columns.image_begin();
            // Tiles are narrow, so the hardware prefetcher has hardly started when a tile's row ends. (Not a separate
            // function: GCC 12 considers a function that only prefetches to have no effect and drops calls to it.)
            const auto* next = image + (y + 2 < shape.height ? 2 * in.row_stride_bytes() : 0);
            for (int x = 0; x < columns.image_count(); x += 64) hwy::Prefetch(next + x);
            std::memcpy(line, image, static_cast<std::size_t>(columns.image_count()));
        },
        [&](int y) { return out.row(tile.frame, y) + tile.x_begin * shape.channels; }, [](int) {});
}

// Blurs one tile with the loops for few taps.
template <int taps>
void gaussian_short_tile_of(const GaussianWeights& weights, Border border, HostView<const std::uint8_t> in,
                            HostView<std::uint8_t> out, const WindowTile& tile) {
    if (in.shape().channels == 3)
        gaussian_short::blur_tile<taps, 3>(weights, border, in, out, tile);
    else
        gaussian_short::blur_tile<taps, 1>(weights, border, in, out, tile);
}

}  // namespace

// Returns true if the loops for few taps are faster with the current instruction set.
bool gaussian_short_suits(const GaussianWeights& weights, int channels) {
    return gaussian_short::suits(weights, channels);
}

// Chooses the number of taps at compile time.
void gaussian_short_tile(const GaussianWeights& weights, Border border, HostView<const std::uint8_t> in,
                         HostView<std::uint8_t> out, const WindowTile& tile) {
    switch (weights.taps) {
        case 3: return gaussian_short_tile_of<3>(weights, border, in, out, tile);
        case 5: return gaussian_short_tile_of<5>(weights, border, in, out, tile);
        default:
            if constexpr (HWY_TARGET <= HWY_AVX3_DL) gaussian_short::blur_tile<7, 3>(weights, border, in, out, tile);
    }
}

// Chooses the number of terms at compile time for common sizes.
void gaussian_tile(const GaussianWeights& weights, Border border, HostView<const std::uint8_t> in,
                   HostView<std::uint8_t> out, const WindowTile& tile) {
    constexpr auto fine = GaussianRounding::fine, opencv = GaussianRounding::opencv;
    if (weights.rounding == opencv) return gaussian_tile_of<opencv, 0>(weights, border, in, out, tile);
    switch (weights.terms()) {
        case 2: return gaussian_tile_of<fine, 2>(weights, border, in, out, tile);
        case 8: return gaussian_tile_of<fine, 8>(weights, border, in, out, tile);  // size 15
        default: return gaussian_tile_of<fine, 0>(weights, border, in, out, tile);
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(gaussian_tile);
HWY_EXPORT(gaussian_short_tile);
HWY_EXPORT(gaussian_short_suits);

// Tiles are high compared with the window, because every tile repeats the row pass for the rows above it.
void Gaussian::run(const FilterImages<MemorySpace::host>& images) const {
    validate(images.in, shape_, "gaussian's image");
    validate(images.out, shape_, "gaussian's result");
    if (HWY_DYNAMIC_DISPATCH(gaussian_short_suits)(weights_, shape_.channels)) {
        for_window_tiles(executor_->pool(), shape_, gaussian_short_tile_bytes / shape_.channels,
                         2 * gaussian_short_rows, [&](const WindowTile& tile) {
                             HWY_DYNAMIC_DISPATCH(gaussian_short_tile)(weights_, border_, images.in, images.out, tile);
                         });
        return;
    }
    for_window_tiles(executor_->pool(), shape_, gaussian_tile_bytes(weights_.taps) / shape_.channels, 8 * weights_.taps,
                     [&](const WindowTile& tile) {
                         HWY_DYNAMIC_DISPATCH(gaussian_tile)(weights_, border_, images.in, images.out, tile);
                     });
}

}  // namespace framewire

#endif

#if HWY_ONCE

// The weights of the Gaussian, which decide the accuracy of all backends, and the registry entry. The exact weights
// come from the formula; round_weights() turns them into fixed point, with a unit as coarse as the accuracy allows.

namespace framewire {

namespace {

// Exact weights of the formula, folded like the fixed-point ones; they sum to 1/2.
struct ExactWeights {
    int terms;
    double folded[(max_window_px + 1) / 2];
};

// Samples the Gaussian at the taps' distances from the middle and normalises.
ExactWeights exact_weights(int size, double sigma) {
    ExactWeights weights{.terms = (size + 1) / 2, .folded = {}};
    const double middle = (size - 1) * 0.5, nearest = size % 2 ? 0 : 0.5;
    // Compute the weights relative to the one nearest to the middle, so that no sigma makes all of them zero.
    double sum = 0;
    for (int term = 0; term < weights.terms; ++term) {
        const double distance = middle - term;
        const double squares = distance * distance - nearest * nearest;
        weights.folded[term] = squares == 0 ? 1 : std::exp(-squares / (2 * sigma * sigma));
        if (distance == 0) weights.folded[term] *= 0.5;  // the middle tap counts twice
        sum += weights.folded[term];
    }
    for (auto& weight : weights.folded) weight /= 2 * sum;
    return weights;
}

// Rounds the weights to multiples of `unit` that add up to 2^14. Rounding the running sum carries each error over to
// the next weight.
void round_weights(const ExactWeights& exact, int unit, std::int16_t* folded) {
    double exact_so_far = 0;
    int so_far = 0;
    for (int term = 0; term < exact.terms; ++term) {
        exact_so_far += exact.folded[term] * (1 << 15);
        const int rounded =
            term == exact.terms - 1 ? 1 << 14 : static_cast<int>(std::lround(exact_so_far / unit)) * unit;
        folded[term] = static_cast<std::int16_t>(rounded - so_far);
        so_far = rounded;
    }
}

// Returns an upper bound, for any image, on the error of the filter's results before their final rounding:
//     127.5 * (sum over all taps of the window of abs(fixed - exact weight)) + half a unit of the rows' results.
// The errors of the weights add up to zero, so only the distance of bytes from 127.5 matters.
double largest_error(const ExactWeights& exact, const std::int16_t* folded) {
    // Each term represents two taps with its weight, or a middle tap with twice its weight.
    double difference = 0;
    for (int row = 0; row < exact.terms; ++row)
        for (int column = 0; column < exact.terms; ++column)
            difference += 4 * std::abs(folded[row] / 32768.0 * (folded[column] / 32768.0) -
                                       exact.folded[row] * exact.folded[column]);
    return 127.5 * difference + 1.0 / (2 << (15 - gaussian_row_shift(GaussianRounding::fine)));
}

// Copies the weights from OpenCV's table, which replaces the formula for the sizes 3, 5 and 7 with the default sigma.
// Returns false for other arguments.
bool round_as_opencv_table(int size, double sigma, std::int16_t* folded) {
    static constexpr std::int16_t of_3[] = {8192, 8192}, of_5[] = {2048, 8192, 6144}, of_7[] = {1024, 3584, 7168, 4608};
    if (sigma != 0 || (size != 3 && size != 5 && size != 7)) return false;
    std::copy_n(size == 3 ? of_3 : size == 5 ? of_5 : of_7, (size + 1) / 2, folded);
    return true;
}

}  // namespace

// A window of 6 sigma covers practically all of the Gaussian.
int gaussian_size_for(double sigma) {
    const auto size = static_cast<int>(std::lround(6 * sigma - 1)) | 1;
    return std::min(size, max_window_px);
}

// Tries short weights first and keeps them if their error bound suffices. Taps at both ends that round to zero are
// dropped, which shortens the window.
GaussianWeights gaussian_weights(int size, double sigma, GaussianRounding rounding) {
    if (size < 0 || size > max_window_px)
        fail(ErrorCode::usage, "gaussian's size is {}; allowed: 0 to {}", size, max_window_px);
    if (!(sigma >= 0 && sigma <= max_gaussian_sigma_px))
        fail(ErrorCode::usage, "gaussian's sigma is {}; allowed: 0 to {}", sigma, max_gaussian_sigma_px);
    if (size == 0 && sigma == 0) fail(ErrorCode::usage, "gaussian has size 0 and sigma 0; at least one must be given");
    if (size == 0) size = gaussian_size_for(sigma);
    const auto exact = exact_weights(size, sigma == 0 ? default_gaussian_sigma(size) : sigma);

    std::int16_t folded[(max_window_px + 1) / 2];
    // OpenCV's rounding has its own table for some sizes and otherwise the same error diffusion.
    const bool as_opencv = rounding == GaussianRounding::opencv;
    if (!as_opencv || !round_as_opencv_table(size, sigma, folded)) round_weights(exact, gaussian_short_unit, folded);
    GaussianWeights weights{};
    weights.rounding = rounding;
    weights.is_short = !as_opencv && size <= gaussian_most_short_taps && largest_error(exact, folded) < 1;
    if (!weights.is_short && !as_opencv) round_weights(exact, 1, folded);

    // Drop the zeros at both ends.
    const auto* first = std::find_if(folded, folded + exact.terms, [](int weight) { return weight != 0; });
    const int zeros = static_cast<int>(first - folded);
    std::copy(first, static_cast<const std::int16_t*>(folded + exact.terms), weights.folded);
    weights.taps = size - 2 * zeros;
    const auto reach = window_reach(size);
    weights.reach = {reach.before - zeros, reach.after - zeros};
    return weights;
}

namespace {

const ParameterFields<GaussianParameters>& gaussian_fields() {
    using P = GaussianParameters;
    static const ParameterFields<P> fields = {
        parameter_field(&P::size, {.name = "size",
                                   .help = "side of the square window in pixels; even sizes reach one pixel further "
                                           "left and up; 0: 6 * sigma - 1, made odd",
                                   .minimum = 0,
                                   .maximum = max_window_px}),
        parameter_field(&P::sigma, {.name = "sigma",
                                    .help = "standard deviation in pixels; 0: 0.3 * ((size - 1) / 2 - 1) + 0.8",
                                    .maximum = max_gaussian_sigma_px}),
        parameter_field(&P::border, border_names, border_parameter()),
        parameter_field(&P::rounding, gaussian_rounding_names,
                        {.name = "rounding",
                         .help = "fine: within 1 of the rounded formula; opencv: identical to OpenCV's 8-bit "
                                 "GaussianBlur for odd sizes"}),
    };
    return fields;
}

}  // namespace

// The weights do not depend on the backend, so that results are equal everywhere.
Gaussian::Gaussian(GaussianParameters parameters, const Shape& shape, Executor& executor)
    : border_(parameters.border),
      weights_(gaussian_weights(parameters.size, parameters.sigma, parameters.rounding)),
      shape_(shape),
      executor_(&executor) {
    validate(shape, "gaussian's image");
    if constexpr (cuda::compiled)
        if (executor.backend() == Backend::cuda) on_device_ = plan_for_cuda();
}

FilterInfo gaussian_info() {
    return {
        .name = "gaussian",
        .summary = "Gaussian blur: weighted mean of each pixel's neighbourhood",
        .parameters = gaussian_fields().infos(),
        .examples = {"gaussian=9", "gaussian=4:sigma=2", "gaussian=0:sigma=2.5"},
        .output_shape =
            [](const ParameterValues& values, const Shape& shape) {
                gaussian_weights(static_cast<int>(values.integer("size")), values.real("sigma"));
                return shape;
            },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Gaussian>>(gaussian_fields().from(values), shape, executor);
        },
        .kind = [](const ParameterValues& values) -> FilterKind {
            const auto parameters = gaussian_fields().from(values);
            const auto fixed = gaussian_weights(parameters.size, parameters.sigma, parameters.rounding);
            SeparableWindow window{{}, fixed.reach.before, parameters.border};
            for (int tap = 0; tap < fixed.taps; ++tap) {
                const int mirrored = fixed.taps - 1 - tap;
                const int folded = fixed.folded[std::min(tap, mirrored)];
                window.weights.push_back((tap == mirrored ? 2 * folded : folded) / 32768.0);
            }
            return window;
        },
    };
}

}  // namespace framewire

#endif  // HWY_ONCE
